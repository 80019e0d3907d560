// Decodes wmma.load and wmma.store into the accesses that ptxas makes of them for sm_90.
//
// A fragment has lines along which the elements that are multiplied lie (rows of A, columns of B)
// or, of C and D, rows; of transposed products (see WmmaShape) the other way round. It consists of
// blocks of 8 lines, in each of which a lane has a run of neighbouring elements: of the factors as
// many as fill a register, of C and D two. Lane l has run l mod 4 of line l / 4.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/emulator/machine/decode/fragment.h"
#include "harness/emulator/machine/decode/memory_common.h"

namespace warpgauge::emulator::machine::decode {
namespace {

using memory::FragmentDetail;
using Part = FragmentDetail::Part;
using Form = Part::Form;

/// A wmma.load or wmma.store.
struct Move {
  bool store = false;
  char matrix = 'a';  ///< a, b, c or d
  bool row_major = true;
  WmmaShape shape;
  memory::AccessSpace space = memory::AccessSpace::generic;
  std::string type;
};

Move take_move(const ptx::Instruction& instruction) {
  Modifiers modifiers(instruction);
  Move move;
  move.store = modifiers.take("store");
  if (!move.store && !modifiers.take("load")) throw Unsupported("only .load, .store and .mma");
  const auto matrix = move.store ? modifiers.take_one<char>({{"d", 'd'}})
                                 : modifiers.take_one<char>({{"a", 'a'}, {"b", 'b'}, {"c", 'c'}});
  const bool is_whole = modifiers.take("sync");
  modifiers.take("aligned");
  const auto row_major = modifiers.take_one<bool>({{"row", true}, {"col", false}});
  if (!matrix || !is_whole || !row_major) throw Unsupported("in this form");
  move.matrix = *matrix;
  move.row_major = *row_major;
  move.shape = take_wmma_shape(modifiers);
  move.space = take_space(modifiers);
  move.type =
      modifiers
          .take_first([](std::string_view name) {
            return name == "row" || name == "col" ? std::nullopt : std::optional<std::string>(name);
          })
          .value_or("");
  modifiers.finish();
  if (move.space != memory::AccessSpace::generic && move.space != memory::AccessSpace::global &&
      move.space != memory::AccessSpace::shared) {
    throw Unsupported("only global and shared memory");
  }
  return move;
}

/// How a fragment lies in registers and in memory.
struct Fragment {
  bool is_factor = true;  ///< A or B
  int bits = 16;          ///< of an element
  int lines = 0, depth = 0;
  bool along = true;  ///< lines lie in memory with their elements next to each other
  int height = 16;    ///< so many lines have their registers before those of the next ones

  int run() const { return is_factor ? std::max(1, 32 / bits) : 2; }
  int line_blocks() const { return lines / 8; }
  int depth_blocks() const { return depth / (4 * run()); }
  /// Of a block.
  int registers() const { return is_factor || bits == 16 ? 1 : 2; }
  /// Place of a block among the registers.
  int place(int line_block, int depth_block) const {
    const int high = std::min(height, lines) / 8;
    return line_block / high * high * depth_blocks() + depth_block * high + line_block % high;
  }
};

int bits_of_accumulator(const Move& move) {
  const WmmaShape& shape = move.shape;
  if (move.type == "f16" && shape.k == 16) return 16;
  if (move.type == "f32" && (shape.k == 16 || shape.k == 8)) return 32;
  if (move.type == "s32" && shape.k != 8 && shape.k != 4) return 32;
  if (move.type == "f64" && shape.k == 4) return 64;
  throw Unsupported("this shape with this type");
}

Fragment fragment_of(const Move& move) {
  Fragment fragment;
  const WmmaShape& shape = move.shape;
  fragment.is_factor = move.matrix == 'a' || move.matrix == 'b';
  if (!fragment.is_factor) {
    fragment.bits = bits_of_accumulator(move);
    fragment.lines = shape.transposed() ? shape.n : shape.m;
    fragment.depth = shape.transposed() ? shape.m : shape.n;
    fragment.along = move.row_major != shape.transposed();
    return fragment;
  }
  const isa::MatrixElement element = matrix_element(move.type);
  if (!exists(shape, element)) throw Unsupported("this shape with this type");
  const bool is_a = move.matrix == 'a';
  fragment.bits = isa::bits_of(element);
  fragment.lines = is_a ? shape.m : shape.n;
  fragment.depth = shape.k;
  fragment.along = move.row_major == is_a;
  fragment.height = is_a == shape.transposed() ? 8 : 16;
  if (fragment.bits < 8 && !fragment.along) throw Unsupported("this layout with this type");
  return fragment;
}

/// Makes the parts of a fragment whose registers are `slots`.
class Parts {
 public:
  Parts(const ptx::Instruction& instruction, Decoder& decoder, const Move& move,
        const Fragment& fragment, const std::vector<Slot>& slots, FragmentDetail* detail)
      : instruction_(instruction),
        decoder_(decoder),
        move_(move),
        fragment_(fragment),
        slots_(slots),
        detail_(*detail) {}

  void make() {
    const bool by_rows = move_.space == memory::AccessSpace::shared && fragment_.is_factor &&
                         (fragment_.bits == 16 || (fragment_.bits < 16 && fragment_.along));
    if (by_rows) {
      for (int first = 0; first < fragment_.line_blocks(); first += 2) add_rows(first);
      return;
    }
    for (int line = 0; line < fragment_.line_blocks(); ++line) {
      for (int depth = 0; depth < fragment_.depth_blocks(); ++depth) add_block(line, depth);
    }
  }

 private:
  Part& add(Form form, int width, int count) {
    Part& part = detail_.parts.emplace_back();
    part.form = form;
    part.access = decode_access(
        instruction_, decoder_,
        move_.store ? memory::AccessEffect::write : memory::AccessEffect::read, move_.space, width);
    part.count = static_cast<std::uint8_t>(count);
    return part;
  }
  /// Lane `lane` accesses memory at this element.
  void place(Part& part, int lane, int line, int depth) const {
    const int outer = fragment_.along ? line : depth;
    const int inner = fragment_.along ? depth : line;
    part.outer[lane] = static_cast<std::uint8_t>(outer);
    part.inner_bytes[lane] = static_cast<std::uint8_t>(inner * fragment_.bits / 8);
  }
  Slot slot(int line_block, int depth_block, int n = 0) const {
    const int block = fragment_.place(line_block, depth_block);
    return slots_[static_cast<std::size_t>(block * fragment_.registers() + n)];
  }

  /// The matrices of up to 16 lines.
  void add_rows(int first) {
    const int blocks = std::min(2, fragment_.line_blocks() - first);
    const int count = blocks * fragment_.depth_blocks();
    Part& part = add(fragment_.along ? Form::rows : Form::transposed_rows, 16, count);
    part.access.shared_kind = metrics::AccessKind::ldmatrix;
    const int before = fragment_.place(first, 0);
    for (int line = first; line < first + blocks; ++line) {
      for (int depth = 0; depth < fragment_.depth_blocks(); ++depth) {
        const int n = fragment_.place(line, depth) - before;
        part.registers[n] = slot(line, depth);
        for (int row = 0; row < 8; ++row) {
          if (fragment_.along) {
            place(part, 8 * n + row, 8 * line + row, 4 * fragment_.run() * depth);
          } else {
            place(part, 8 * n + row, 8 * line, 8 * depth + row);
          }
        }
      }
    }
  }

  void add_block(int line, int depth) {
    const int run = fragment_.run();
    if (fragment_.along) {
      Part& part = add(Form::values, run * fragment_.bits / 8, fragment_.registers());
      place_run(part, line, depth, 0);
      for (int n = 0; n < part.count; ++n) part.registers[n] = slot(line, depth, n);
    } else if (fragment_.bits == 16) {
      Part& part = add(Form::transposed, 4, 1);
      part.registers[0] = slot(line, depth);
      for (int lane = 0; lane < kLanes; ++lane) {
        place(part, lane, 8 * line + lane % 4 * 2, 8 * depth + lane / 4);
      }
    } else {
      for (int n = 0; n < run; ++n) {
        const bool is_byte = fragment_.bits == 8;
        Part& part = add(is_byte ? Form::byte : Form::values, fragment_.bits / 8, 1);
        part.number = static_cast<std::uint8_t>(n);
        part.registers[0] = slot(line, depth, is_byte ? 0 : n);
        place_run(part, line, depth, n);
      }
    }
  }
  /// Each lane at element `n` of its run.
  void place_run(Part& part, int line, int depth, int n) const {
    const int run = fragment_.run();
    for (int lane = 0; lane < kLanes; ++lane) {
      place(part, lane, 8 * line + lane / 4, (4 * depth + lane % 4) * run + n);
    }
  }

  const ptx::Instruction& instruction_;
  Decoder& decoder_;
  const Move& move_;
  const Fragment& fragment_;
  const std::vector<Slot>& slots_;
  FragmentDetail& detail_;
};

/// The operand; or, where there is none, as many elements as a row of the matrix in memory has.
Slot stride_of(const ptx::Instruction& instruction, const Fragment& fragment, Decoder& decoder) {
  if (instruction.operands.size() > 3) throw Unsupported("with so many operands");
  ptx::Operand stride;
  stride.kind = ptx::Operand::Kind::integer;
  stride.bits = static_cast<std::uint64_t>(fragment.along ? fragment.depth : fragment.lines);
  return decoder.source(instruction.operands.size() == 3 ? instruction.operands[2] : stride,
                        ptx::Type::u32);
}

}  // namespace

bool decode_fragment_move(const ptx::Instruction& instruction, Decoder& decoder,
                          const isa::Isa& isa, Instruction* result) {
  if (instruction.opcode != "wmma" || instruction.has("mma")) return false;
  const Move move = take_move(instruction);
  const Fragment fragment = fragment_of(move);
  const int used = fragment.line_blocks() * fragment.depth_blocks() * fragment.registers();
  const int listed =
      fragment.is_factor ? std::max(used, fewest_registers(matrix_element(move.type))) : used;
  const ptx::Type type = fragment.bits == 64 ? ptx::Type::f64 : ptx::Type::b32;
  std::vector<Slot> slots;
  for (const auto& one : registers_of(operand_at(instruction, move.store ? 1 : 0), listed)) {
    slots.push_back(move.store ? decoder.source(one, type) : decoder.destination(one, type));
  }
  auto detail = std::make_shared<FragmentDetail>();
  detail->element_bits = static_cast<std::uint8_t>(fragment.bits);
  Parts(instruction, decoder, move, fragment, slots, detail.get()).make();
  for (int n = used; n < listed; ++n) {
    detail->copies.push_back(
        {slots[static_cast<std::size_t>(n % used)], slots[static_cast<std::size_t>(n)]});
  }
  const Address at =
      decode_address(operand_at(instruction, move.store ? 0 : 1), move.space, decoder);
  for (Part& part : detail->parts) part.access.short_address = at.is_short;
  result->sources[0] = at.slot;
  result->sources[1] = stride_of(instruction, fragment, decoder);
  result->offset = at.offset;
  wait_for_all_lanes(decoder, result);
  result->execute = isa.async(
      {move.store ? memory::AsyncKey::Op::store_fragment : memory::AsyncKey::Op::load_fragment});
  result->detail = decoder.keep(std::move(detail));
  return true;
}

}  // namespace warpgauge::emulator::machine::decode
