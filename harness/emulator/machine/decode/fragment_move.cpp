// Decodes wmma.load and wmma.store: gives each of the accesses that they are made of the registers
// and the elements of its lanes.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "harness/emulator/machine/decode/fragment_parts.h"
#include "harness/emulator/machine/decode/memory_common.h"

namespace warpgauge::emulator::machine::decode {
namespace {

using Part = FragmentDetail::Part;
using PartForm = Part::Form;

/// Makes the parts of a fragment whose registers are `slots`.
class Parts {
 public:
  Parts(const ptx::Instruction& instruction, Decoder& decoder, const FragmentMove& move,
        const Fragment& fragment, const std::vector<OperandSlot>& slots, FragmentDetail* detail)
      : instruction_(instruction),
        decoder_(decoder),
        move_(move),
        fragment_(fragment),
        parts_(parts_of(move, fragment)),
        slots_(slots),
        detail_(*detail) {}

  void make() {
    for (int n = 0; n < parts_.count; ++n) {
      if (parts_.is_by_rows()) {
        add_rows(2 * n);
      } else {
        const int block = n / parts_.in_block;
        add_values(block / fragment_.depth_blocks(), block % fragment_.depth_blocks(),
                   n % parts_.in_block);
      }
    }
  }

 private:
  Part& add() {
    Part& part = detail_.parts.emplace_back();
    part.form = parts_.form;
    part.access = decode_access(instruction_, decoder_,
                                move_.store ? AccessEffect::write : AccessEffect::read, move_.space,
                                parts_.width);
    part.count = static_cast<std::uint8_t>(parts_.registers);
    return part;
  }
  /// Lane `lane` accesses memory at this element.
  void place(Part& part, int lane, int line, int depth) const {
    const int outer = fragment_.along ? line : depth;
    const int inner = fragment_.along ? depth : line;
    part.outer[lane] = static_cast<std::uint8_t>(outer);
    part.inner_bytes[lane] = static_cast<std::uint8_t>(inner * fragment_.bits / 8);
  }
  OperandSlot slot(int line_block, int depth_block, int n = 0) const {
    const int block = fragment_.place(line_block, depth_block);
    return slots_[block * fragment_.registers() + n];
  }

  /// The matrices of up to 16 lines.
  void add_rows(int first) {
    Part& part = add();
    part.access.shared_kind = metrics::AccessKind::ldmatrix;
    const int blocks = part.count / fragment_.depth_blocks();
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

  /// The runs of a block, or element `number` of each.
  void add_values(int line, int depth, int number) {
    Part& part = add();
    part.number = static_cast<std::uint8_t>(number);
    for (int n = 0; n < part.count; ++n) {
      part.registers[n] = slot(line, depth, part.form == PartForm::values ? number + n : 0);
    }
    const int run = fragment_.run();
    for (int lane = 0; lane < kLanes; ++lane) {
      if (part.form == PartForm::transposed) {
        place(part, lane, 8 * line + lane % 4 * 2, 8 * depth + lane / 4);
      } else {
        place(part, lane, 8 * line + lane / 4, (4 * depth + lane % 4) * run + number);
      }
    }
  }

  const ptx::Instruction& instruction_;
  Decoder& decoder_;
  const FragmentMove& move_;
  const Fragment& fragment_;
  const FragmentParts parts_;
  const std::vector<OperandSlot>& slots_;
  FragmentDetail& detail_;
};

/// The operand; or, where there is none, as many elements as a row of the matrix in memory has.
OperandSlot stride_of(const ptx::Instruction& instruction, const Fragment& fragment,
                      Decoder& decoder) {
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
  const FragmentMove move = take_fragment_move(instruction);
  const Fragment fragment = fragment_of(move);
  const int used = fragment.line_blocks() * fragment.depth_blocks() * fragment.registers();
  const int listed =
      fragment.is_factor ? std::max(used, fewest_registers(matrix_element(move.type))) : used;
  const ptx::Type type = fragment.bits == 64 ? ptx::Type::f64 : ptx::Type::b32;
  std::vector<OperandSlot> slots;
  for (const auto& entry : registers_of(operand_at(instruction, move.store ? 1 : 0), listed)) {
    slots.push_back(move.store ? decoder.source(entry, type) : decoder.destination(entry, type));
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
  result->execute =
      isa.transfer({move.store ? TransferKey::Op::store_fragment : TransferKey::Op::load_fragment});
  result->detail = decoder.keep(std::move(detail));
  return true;
}

}  // namespace warpgauge::emulator::machine::decode
