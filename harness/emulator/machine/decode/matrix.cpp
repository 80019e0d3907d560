// Decoding of mma, wmma.mma and movmatrix.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/emulator/machine/decode/families.h"
#include "harness/emulator/machine/decode/fragment.h"

namespace warpgauge::emulator::machine::decode {
namespace {

using ptx::Type;

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

/// The last four modifiers: the types of D, A, B and C; those of D and C must be the same.
void take_types(Modifiers& modifiers, const ptx::Instruction& instruction, isa::MatrixKey* key) {
  const auto& names = instruction.modifiers;
  if (names.size() < 4) throw Unsupported("the types");
  const std::size_t first = names.size() - 4;
  key->a = matrix_element(names[first + 1]);
  key->b = matrix_element(names[first + 2]);
  if (names[first] != names[first + 3]) throw Unsupported("results of another type");
  key->c = key->d = ptx::type_from(names[first]).value_or(Type::none);
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
    case isa::MatrixElement::e4m3:
    case isa::MatrixElement::e5m2:
      return is(16, 16) || is(16, 32);
    default:
      return false;
  }
}

/// The operands that A and B of a product are, and how many registers they list at least.
struct Factors {
  std::size_t a = 1, b = 2;
  int fewest = 1;
};

/// Finds the registers of a product and its handler.
void finish_product(const ptx::Instruction& instruction, const isa::MatrixKey& key,
                    const Factors& factors, std::shared_ptr<isa::MatrixProduct> product,
                    Decoder& decoder, const isa::Isa& isa, Instruction* result) {
  if (product->saturate && (key.c != Type::s32 || key.a == isa::MatrixElement::b1)) {
    throw Unsupported("modifier .satfinite");
  }
  if (instruction.operands.size() != 4) throw Unsupported("the number of operands");
  const Type factor = key.a == isa::MatrixElement::f64 ? Type::f64 : Type::b32;
  const auto take_factor = [&](Slot* slots, std::size_t operand, int used) {
    const auto list = registers_of(instruction.operands[operand], std::max(used, factors.fewest));
    for (int n = 0; n < used; ++n) {
      slots[n] = decoder.source(list[static_cast<std::size_t>(n)], factor);
    }
  };
  const int depth = product->k / (4 * elements_per_register(key.a));
  const int second = product->parts - 1;
  take_factor(product->a, factors.a, second * product->next_a + product->m / 8 * depth);
  take_factor(product->b, factors.b, second * product->next_b + depth);
  const auto accumulator = [&](std::size_t operand, Type type) {
    const int count = product->parts * product->m / (type == Type::f16 ? 8 : 4);
    return registers_of(instruction.operands[operand], count);
  };
  const auto type_of = [](Type sum) { return sum == Type::f64 ? Type::f64 : Type::b32; };
  Slot* slot = product->c;
  for (const ptx::Operand& one : accumulator(3, key.c)) {
    *slot++ = decoder.source(one, type_of(key.c));
  }
  slot = product->d;
  for (const ptx::Operand& one : accumulator(0, key.d)) {
    *slot++ = decoder.destination(one, type_of(key.d));
  }
  wait_for_all_lanes(decoder, result);
  result->detail = decoder.keep(std::move(product));
  result->execute = isa.matrix(key);
  if (result->execute == nullptr) throw Unsupported("this combination of types");
}

void decode_product(const ptx::Instruction& instruction, Decoder& decoder, const isa::Isa& isa,
                    Instruction* result) {
  Modifiers modifiers(instruction);
  isa::MatrixKey key;
  auto product = std::make_shared<isa::MatrixProduct>();
  if (!modifiers.take("sync")) throw Unsupported("without .sync");
  modifiers.take("aligned");
  const Shape shape = take_shape(modifiers);
  if (!modifiers.take("row") || !modifiers.take("col")) throw Unsupported("not .row.col");
  product->saturate = modifiers.take("satfinite");
  take_types(modifiers, instruction, &key);
  modifiers.finish();
  if (!exists(key, shape)) throw Unsupported("this shape with these types");
  product->m = shape.m;
  product->k = product->step = shape.k;
  finish_product(instruction, key, {}, std::move(product), decoder, isa, result);
}

/// The types at the end of wmma.mma: of D, A, B and C; with f16 of D and C alone.
void take_wmma_types(Modifiers& modifiers, isa::MatrixKey* key) {
  std::vector<std::string> names;
  while (auto name = modifiers.take_first(
             [](std::string_view one) { return std::optional<std::string>(one); })) {
    names.push_back(std::move(*name));
  }
  if (names.size() == 2) names.insert(names.begin() + 1, 2, "f16");
  if (names.size() != 4) throw Unsupported("the types");
  key->a = matrix_element(names[1]);
  key->b = matrix_element(names[2]);
  key->c = ptx::type_from(names[3]).value_or(Type::none);
  key->d = ptx::type_from(names[0]).value_or(Type::none);
}

/// wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16 d, a, b, c. A fragment is the same whatever the
/// layout in memory was.
void decode_wmma_product(const ptx::Instruction& instruction, Decoder& decoder, const isa::Isa& isa,
                         Instruction* result) {
  Modifiers modifiers(instruction);
  isa::MatrixKey key;
  auto product = std::make_shared<isa::MatrixProduct>();
  for (const char* const name : {"mma", "sync"}) {
    if (!modifiers.take(name)) throw Unsupported("without ." + std::string(name));
  }
  modifiers.take("aligned");
  for (int operand = 0; operand < 2; ++operand) {
    if (!modifiers.take("row") && !modifiers.take("col")) throw Unsupported("without a layout");
  }
  const WmmaShape shape = take_wmma_shape(modifiers);
  const bool counts_bits = modifiers.take("popc");
  if (modifiers.take("xor")) key.op = isa::MatrixKey::Op::exclusive_or;
  if (counts_bits && key.op != isa::MatrixKey::Op::exclusive_or && !modifiers.take("and")) {
    throw Unsupported("without .xor or .and");
  }
  modifiers.take("rn");
  product->saturate = modifiers.take("satfinite");
  take_wmma_types(modifiers, &key);
  if (!exists(shape, key.a) || counts_bits != (key.a == isa::MatrixElement::b1)) {
    throw Unsupported("this shape with these types");
  }
  Factors factors{1, 2, fewest_registers(key.a)};
  if (shape.transposed()) {
    std::swap(factors.a, factors.b);
    std::swap(key.a, key.b);
  }
  const int rows = std::max(shape.m, shape.n), columns = shape.m * shape.n / rows;
  const int depth = shape.k / (4 * elements_per_register(key.a));
  product->m = std::min(rows, 16);
  product->k = shape.k;
  product->step = key.a == isa::MatrixElement::tf32 ? 4 : shape.k;
  product->parts = std::max(rows / product->m, columns / 8);
  product->next_a = rows > 16 ? 2 * depth : 0;
  product->next_b = columns > 8 ? depth : 0;
  finish_product(instruction, key, factors, std::move(product), decoder, isa, result);
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
  } else if (instruction.opcode == "wmma" && instruction.has("mma")) {
    decode_wmma_product(instruction, decoder, isa, result);
  } else if (instruction.opcode == "movmatrix") {
    decode_transposition(instruction, decoder, isa, result);
  } else {
    return false;
  }
  return true;
}

}  // namespace warpgauge::emulator::machine::decode
