// Decoding of mma and movmatrix.
#include "harness/emulator/machine/isa/matrix.h"

#include <memory>
#include <string>
#include <vector>

#include "harness/emulator/machine/control/warp_ops.h"
#include "harness/emulator/machine/decode/families.h"
#include "harness/emulator/machine/decode/modifiers.h"

namespace warpgauge::emulator::machine::decode {
namespace {

using ptx::Type;

/// All lanes take part: the handler waits for them as for those of a shuffle.
void wait_for_all_lanes(Decoder& decoder, Instruction* result) {
  ptx::Operand all;
  all.kind = ptx::Operand::Kind::integer;
  all.type = Type::s64;
  all.bits = kAllLanes;
  result->sources[3] = decoder.source(all, Type::b32);
  result->flags = control::warp_op_flag::kSync | control::warp_op_flag::kAllMembers;
}

struct Shape {
  int m, k;
};
Shape take_shape(Modifiers& modifiers) {
  const auto shape = modifiers.take_one<Shape>({{"m8n8k4", {8, 4}},
                                                {"m8n8k16", {8, 16}},
                                                {"m16n8k4", {16, 4}},
                                                {"m16n8k8", {16, 8}},
                                                {"m16n8k16", {16, 16}},
                                                {"m16n8k32", {16, 32}}});
  if (!shape) throw Unsupported("the shape");
  return *shape;
}

isa::MatrixElement element(std::string_view name) {
  if (name == "f16") return isa::MatrixElement::f16;
  if (name == "bf16") return isa::MatrixElement::bf16;
  if (name == "tf32") return isa::MatrixElement::tf32;
  if (name == "f64") return isa::MatrixElement::f64;
  if (name == "s8") return isa::MatrixElement::s8;
  if (name == "u8") return isa::MatrixElement::u8;
  if (name == "e4m3") return isa::MatrixElement::e4m3;
  if (name == "e5m2") return isa::MatrixElement::e5m2;
  throw Unsupported("elements of type ." + std::string(name));
}

/// The last four modifiers: the types of D, A, B and C; those of D and C must be the same.
void take_types(Modifiers& modifiers, const ptx::Instruction& instruction, isa::MatrixKey* key) {
  const auto& names = instruction.modifiers;
  if (names.size() < 4) throw Unsupported("the types");
  const std::size_t first = names.size() - 4;
  key->a = element(names[first + 1]);
  key->b = element(names[first + 2]);
  if (names[first] != names[first + 3]) throw Unsupported("results of another type");
  key->accumulator = ptx::type_from(names[first]).value_or(Type::none);
  for (std::size_t n = first; n < names.size(); ++n) modifiers.take(names[n]);
}

/// The shapes that the elements have.
bool exists(const isa::MatrixKey& key, Shape shape) {
  const auto is = [&](int m, int k) { return shape.m == m && shape.k == k; };
  switch (key.a) {
    case isa::MatrixElement::f16:
    case isa::MatrixElement::bf16:
      return is(16, 8) || is(16, 16);
    case isa::MatrixElement::tf32:
      return is(16, 4) || is(16, 8);
    case isa::MatrixElement::f64:
      return is(8, 4) || is(16, 4) || is(16, 8) || is(16, 16);
    case isa::MatrixElement::s8:
    case isa::MatrixElement::u8:
      return is(8, 16) || is(16, 16) || is(16, 32);
    default:
      return is(16, 16) || is(16, 32);
  }
}

/// The operand's registers: a vector, or one alone.
std::vector<ptx::Operand> registers(const ptx::Operand& operand, int expected) {
  const bool is_vector = operand.kind == ptx::Operand::Kind::vector;
  std::vector<ptx::Operand> result = is_vector ? operand.elements : std::vector{operand};
  if (static_cast<int>(result.size()) != expected) throw Unsupported("the number of registers");
  return result;
}

void decode_product(const ptx::Instruction& instruction, Decoder& decoder, const isa::Isa& isa,
                    Instruction* result) {
  Modifiers modifiers(instruction);
  isa::MatrixKey key;
  const auto product = std::make_shared<isa::MatrixProduct>();
  if (!modifiers.take("sync")) throw Unsupported("without .sync");
  modifiers.take("aligned");
  const Shape shape = take_shape(modifiers);
  if (!modifiers.take("row") || !modifiers.take("col")) throw Unsupported("not .row.col");
  product->saturate = modifiers.take("satfinite");
  take_types(modifiers, instruction, &key);
  modifiers.finish();
  if (!exists(key, shape)) throw Unsupported("this shape with these types");
  if (product->saturate && key.accumulator != Type::s32) throw Unsupported("modifier .satfinite");
  if (instruction.operands.size() != 4) throw Unsupported("the number of operands");
  product->m = shape.m;
  product->k = shape.k;
  const int rows = shape.m / 8, depth = shape.k / (4 * elements_per_register(key.a));
  const int accumulators = key.accumulator == Type::f16 ? rows : 2 * rows;
  const bool is_double = key.accumulator == Type::f64;
  const Type factor = is_double ? Type::f64 : Type::b32;
  const Type sum = is_double ? Type::f64 : Type::b32;
  const auto sources = [&](Slot* slots, std::size_t operand, int count, Type type) {
    for (const ptx::Operand& one : registers(instruction.operands[operand], count)) {
      *slots++ = decoder.source(one, type);
    }
  };
  sources(product->a, 1, rows * depth, factor);
  sources(product->b, 2, depth, factor);
  sources(product->c, 3, accumulators, sum);
  Slot* slot = product->d;
  for (const ptx::Operand& one : registers(instruction.operands[0], accumulators)) {
    *slot++ = decoder.destination(one, sum);
  }
  wait_for_all_lanes(decoder, result);
  result->detail = product.get();
  decoder.keep(product);
  result->execute = isa.matrix(key);
  if (result->execute == nullptr) throw Unsupported("this combination of types");
}

void decode_transposition(const ptx::Instruction& instruction, Decoder& decoder,
                          const isa::Isa& isa, Instruction* result) {
  Modifiers modifiers(instruction);
  for (const char* const name : {"sync", "aligned", "m8n8", "trans", "b16"}) {
    if (!modifiers.take(name)) throw Unsupported("without ." + std::string(name));
  }
  modifiers.finish();
  if (instruction.operands.size() != 2) throw Unsupported("the number of operands");
  result->destination = decoder.destination(instruction.operands[0], Type::b32);
  result->sources[0] = decoder.source(instruction.operands[1], Type::b32);
  wait_for_all_lanes(decoder, result);
  isa::MatrixKey key;
  key.op = isa::MatrixKey::Op::transpose;
  result->execute = isa.matrix(key);
}

}  // namespace

bool decode_matrix(const ptx::Instruction& instruction, Decoder& decoder, const isa::Isa& isa,
                   Instruction* result) {
  if (instruction.opcode == "mma") {
    decode_product(instruction, decoder, isa, result);
  } else if (instruction.opcode == "movmatrix") {
    decode_transposition(instruction, decoder, isa, result);
  } else {
    return false;
  }
  return true;
}

}  // namespace warpgauge::emulator::machine::decode
