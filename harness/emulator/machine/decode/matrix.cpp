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

/// All modifiers that were not taken yet.
std::vector<std::string> take_rest(Modifiers& modifiers) {
  std::vector<std::string> names;
  while (auto name = modifiers.take_first(
             [](std::string_view modifier) { return std::optional<std::string>(modifier); })) {
    names.push_back(std::move(*name));
  }
  return names;
}

/// The types of D, A, B and C, which are what is left; those of D and C must be the same.
void take_types(Modifiers& modifiers, isa::MatrixKey* key) {
  const std::vector<std::string> names = take_rest(modifiers);
  if (names.size() < 4) throw Unsupported("the types");
  if (names.size() > 4) throw Unsupported("modifier ." + names[0]);
  key->a = matrix_element(names[1]);
  key->b = matrix_element(names[2]);
  if (names[0] != names[3]) throw Unsupported("results of another type");
  key->c = key->d = ptx::type_from(names[0]).value_or(Type::none);
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

/// Finds the registers of a product and its handler. `operands`: how many the instruction has.
template <typename Product>
void finish_product(const ptx::Instruction& instruction, const isa::MatrixKey& key,
                    const Factors& factors, std::shared_ptr<Product> product, Decoder& decoder,
                    const isa::Isa& isa, Instruction* result, std::size_t operands = 4) {
  if (product->saturate && (key.c != Type::s32 || key.a == isa::MatrixElement::b1)) {
    throw Unsupported("modifier .satfinite");
  }
  if (instruction.operands.size() != operands) throw Unsupported("the number of operands");
  const Type factor = key.a == isa::MatrixElement::f64 ? Type::f64 : Type::b32;
  const auto take_factor = [&](OperandSlot* slots, std::size_t operand, int used) {
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
  OperandSlot* slot = product->c;
  for (const ptx::Operand& operand : accumulator(3, key.c)) {
    *slot++ = decoder.source(operand, type_of(key.c));
  }
  slot = product->d;
  for (const ptx::Operand& operand : accumulator(0, key.d)) {
    *slot++ = decoder.destination(operand, type_of(key.d));
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
  take_types(modifiers, &key);
  if (!exists(key, shape)) throw Unsupported("this shape with these types");
  product->m = shape.m;
  product->k = product->step = shape.k;
  finish_product(instruction, key, {}, std::move(product), decoder, isa, result);
}

/// A .kind of products of narrow numbers.
struct MatrixKind {
  int k;
  bool in_bytes;  ///< elements of 4 and 6 bits have a byte each
  bool is_scaled;
};

isa::MatrixElement element_of_kind(isa::MatrixElement element, const MatrixKind& kind) {
  using enum isa::MatrixElement;
  if (element == e2m1) return kind.in_bytes ? e2m1_in_byte : e2m1;
  const bool has_byte = element == e4m3 || element == e5m2 || element == e2m3 || element == e3m2;
  if (!kind.in_bytes || !has_byte) throw Unsupported("this kind with these types");
  return element;
}

/// scale_vec::2X, of how many blocks along k have scales; without it as many as the kind has.
int take_blocks(Modifiers& modifiers, const MatrixKind& kind, bool is_nvf4, bool e4m3_scales) {
  const auto blocks =
      modifiers.take_one<int>({{"scale_vec::1X", 1}, {"scale_vec::2X", 2}, {"scale_vec::4X", 4}});
  const int fewest = kind.k / 32;
  if (!blocks && !is_nvf4 && !e4m3_scales) return fewest;
  const bool exists = blocks == fewest ? !e4m3_scales : blocks == 4 && is_nvf4;
  if (!exists) throw Unsupported("this number of scales with this kind");
  return *blocks;
}

void take_scales(const ptx::Instruction& instruction, std::size_t operand, Decoder& decoder,
                 isa::MatrixScales* scales) {
  scales->bytes = decoder.source(registers_of(instruction.operands[operand], 1)[0], Type::b32);
  const auto selectors = registers_of(instruction.operands[operand + 1], 2);
  scales->byte = decoder.source(selectors[0], Type::u16);
  scales->thread = decoder.source(selectors[1], Type::u16);
}

/// mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e2m1.f32
/// .ue8m0 d, a, b, c, scales of A, {byte, thread}, scales of B, {byte, thread}
void decode_narrow_product(const ptx::Instruction& instruction, Decoder& decoder,
                           const isa::Isa& isa, Instruction* result) {
  Modifiers modifiers(instruction);
  for (const char* const name : {"sync", "aligned", "row", "col"}) {
    if (!modifiers.take(name)) throw Unsupported("without ." + std::string(name));
  }
  const bool is_nvf4 = instruction.has("kind::mxf4nvf4");
  const auto kind = modifiers.take_one<MatrixKind>({{"kind::f8f6f4", {32, true, false}},
                                                    {"kind::mxf8f6f4", {32, true, true}},
                                                    {"kind::mxf4", {64, false, true}},
                                                    {"kind::mxf4nvf4", {64, false, true}}});
  if (!kind) throw Unsupported("the kind");
  if (!modifiers.take(kind->k == 32 ? "m16n8k32" : "m16n8k64")) throw Unsupported("the shape");
  if (modifiers.take("block_scale") != kind->is_scaled) {
    throw Unsupported(kind->is_scaled ? "without .block_scale" : "modifier .block_scale");
  }
  auto product = std::make_shared<isa::NarrowProduct>();
  if (kind->is_scaled) {
    product->e4m3_scales = modifiers.take("ue4m3");
    if (!product->e4m3_scales && !modifiers.take("ue8m0")) throw Unsupported("scales of this type");
    product->blocks = take_blocks(modifiers, *kind, is_nvf4, product->e4m3_scales);
  }
  isa::MatrixKey key;
  key.op = isa::MatrixKey::Op::multiply_narrow;
  take_types(modifiers, &key);
  key.a = product->elements[0] = element_of_kind(key.a, *kind);
  key.b = product->elements[1] = element_of_kind(key.b, *kind);
  if (kind->is_scaled && key.d != Type::f32) throw Unsupported("this kind with these types");
  product->m = 16;
  product->k = product->step = kind->k;
  product->parts = 1;
  const std::size_t operands = kind->is_scaled ? 8 : 4;
  if (kind->is_scaled && instruction.operands.size() == operands) {
    take_scales(instruction, 4, decoder, &product->scales[0]);
    take_scales(instruction, 6, decoder, &product->scales[1]);
  }
  finish_product(instruction, key, {}, std::move(product), decoder, isa, result, operands);
}

/// The types at the end of wmma.mma: of D, A, B and C; with f16 of D and C alone.
void take_wmma_types(Modifiers& modifiers, isa::MatrixKey* key) {
  std::vector<std::string> names = take_rest(modifiers);
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

bool has_kind(const ptx::Instruction& instruction) {
  return std::any_of(instruction.modifiers.begin(), instruction.modifiers.end(),
                     [](const std::string& name) { return name.starts_with("kind::"); });
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
  if (instruction.opcode == "mma" && has_kind(instruction)) {
    decode_narrow_product(instruction, decoder, isa, result);
  } else if (instruction.opcode == "mma") {
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
