// Finds the parts of a fragment of wmma.load and wmma.store from the instruction's text.
#include "harness/emulator/machine/decode/fragment_parts.h"

#include <optional>
#include <string_view>

#include "harness/emulator/machine/decode/memory_common.h"

namespace warpgauge::emulator::machine::decode {
namespace {

int bits_of_accumulator(const FragmentMove& move) {
  const WmmaShape& shape = move.shape;
  if (move.type == "f16" && shape.k == 16) return 16;
  if (move.type == "f32" && (shape.k == 16 || shape.k == 8)) return 32;
  if (move.type == "s32" && shape.k != 8 && shape.k != 4) return 32;
  if (move.type == "f64" && shape.k == 4) return 64;
  throw Unsupported("this shape with this type");
}

}  // namespace

FragmentMove take_fragment_move(const ptx::Instruction& instruction) {
  Modifiers modifiers(instruction);
  FragmentMove move;
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
  if (move.space != AccessSpace::generic && move.space != AccessSpace::global &&
      move.space != AccessSpace::shared) {
    throw Unsupported("only global and shared memory");
  }
  return move;
}

Fragment fragment_of(const FragmentMove& move) {
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

FragmentParts parts_of(const FragmentMove& move, const Fragment& fragment) {
  using Form = FragmentParts::Form;
  FragmentParts parts;
  const bool by_rows = move.space == AccessSpace::shared && fragment.is_factor &&
                       (fragment.bits == 16 || (fragment.bits < 16 && fragment.along));
  if (by_rows) {
    parts.form = fragment.along ? Form::rows : Form::transposed_rows;
    parts.count = (fragment.line_blocks() + 1) / 2;
    parts.width = 16;
    parts.registers = std::min(2, fragment.line_blocks()) * fragment.depth_blocks();
    return parts;
  }
  if (fragment.along) {
    parts.width = fragment.run() * fragment.bits / 8;
    parts.registers = fragment.registers();
  } else if (fragment.bits == 16) {
    parts.form = Form::transposed;
  } else {
    parts.form = fragment.bits == 8 ? Form::byte : Form::values;
    parts.width = fragment.bits / 8;
    parts.in_block = fragment.run();
  }
  parts.count = fragment.line_blocks() * fragment.depth_blocks() * parts.in_block;
  return parts;
}

}  // namespace warpgauge::emulator::machine::decode
