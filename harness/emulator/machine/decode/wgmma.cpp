// Decoding of what a warpgroup executes: wgmma, setmaxnreg.
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "harness/emulator/machine/control/warpgroup.h"
#include "harness/emulator/machine/decode/families.h"
#include "harness/emulator/machine/decode/fragment.h"
#include "harness/emulator/machine/isa/wgmma_product.h"

namespace warpgauge::emulator::machine::decode {
namespace {

using isa::MatrixElement;
using isa::WarpgroupProduct;
using ptx::Type;

struct GroupShape {
  int n = 0, k = 0;
};

/// "m64n128k16"
std::optional<GroupShape> shape_from(std::string_view name) {
  const auto number = [&](std::string_view letter, int* value) {
    if (!name.starts_with(letter)) return false;
    name.remove_prefix(letter.size());
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), *value);
    name.remove_prefix(static_cast<std::size_t>(end - name.data()));
    return error == std::errc();
  };
  int m = 0;
  GroupShape shape;
  if (!number("m", &m) || !number("n", &shape.n) || !number("k", &shape.k)) return std::nullopt;
  if (m != WarpgroupProduct::kRows || !name.empty()) return std::nullopt;
  return shape;
}

bool is_integer(MatrixElement element) {
  return element == MatrixElement::s8 || element == MatrixElement::u8 ||
         element == MatrixElement::b1;
}

/// Whether sums of this type exist of such products.
bool exists(MatrixElement a, MatrixElement b, Type sum) {
  const auto is_small = [](MatrixElement element) {
    return element == MatrixElement::e4m3 || element == MatrixElement::e5m2;
  };
  const auto is_byte = [](MatrixElement element) {
    return element == MatrixElement::s8 || element == MatrixElement::u8;
  };
  if (is_byte(a) && is_byte(b)) return sum == Type::s32;
  if (is_small(a) && is_small(b)) return sum == Type::f16 || sum == Type::f32;
  if (a != b) return false;
  if (a == MatrixElement::b1) return sum == Type::s32;
  if (a == MatrixElement::f16) return sum == Type::f16 || sum == Type::f32;
  return (a == MatrixElement::bf16 || a == MatrixElement::tf32) && sum == Type::f32;
}

bool exists(GroupShape shape, const WarpgroupProduct& product) {
  constexpr int kMostColumns = 256;
  const int step = is_integer(product.a_element) && shape.n > 32 ? 16 : 8;
  return shape.n >= 8 && shape.n <= kMostColumns && shape.n % step == 0 &&
         shape.k * isa::bits_of(product.a_element) == 8 * product.bytes_of_column();
}

/// The operands in their order.
class Operands {
 public:
  explicit Operands(const ptx::Instruction& instruction) : instruction_(instruction) {}

  const ptx::Operand& next() { return instruction_.operands.at(n_++); }
  std::int64_t next_number(std::int64_t lowest, std::int64_t highest, const char* what) {
    const ptx::Operand& operand = next();
    const auto value = static_cast<std::int64_t>(operand.bits);
    if (operand.kind != ptx::Operand::Kind::integer || value < lowest || value > highest) {
      throw Unsupported(std::string("this ") + what);
    }
    return value;
  }
  /// Whether the next of imm-scale-a and imm-scale-b is -1.
  bool next_is_negative() {
    const std::int64_t scale = next_number(-1, 1, "scale of A or B");
    if (scale == 0) throw Unsupported("this scale of A or B");
    return scale < 0;
  }
  void finish() const {
    if (n_ != instruction_.operands.size()) throw Unsupported("the number of operands");
  }

 private:
  const ptx::Instruction& instruction_;
  std::size_t n_ = 0;
};

void take_operands(const ptx::Instruction& instruction, Decoder& decoder,
                   WarpgroupProduct* product) {
  Operands operands(instruction);
  const bool has_halves = product->sum == Type::f16;
  for (const ptx::Operand& operand :
       registers_of(operands.next(), product->n / (has_halves ? 4 : 2))) {
    product->d.push_back(decoder.destination(operand, Type::b32));
  }
  const ptx::Operand& a = operands.next();
  product->a_is_in_registers = a.kind == ptx::Operand::Kind::vector;
  if (product->a_is_in_registers) {
    OperandSlot* slot = product->a;
    for (const ptx::Operand& operand : registers_of(a, 4))
      *slot++ = decoder.source(operand, Type::b32);
  } else {
    product->a[0] = decoder.source(a, Type::b64);
  }
  product->b = decoder.source(operands.next(), Type::b64);
  const bool is_wide = isa::bits_of(product->a_element) >= 16;
  if (product->sparse) {
    product->metadata = decoder.source(operands.next(), Type::b32);
    product->selector =
        static_cast<std::uint8_t>(operands.next_number(0, is_wide ? 1 : 0, "sparsity selector"));
  }
  const ptx::Operand& scale = operands.next();
  product->scale = decoder.source(scale, Type::pred);
  product->scale_negated = scale.negated;
  if (!is_integer(product->a_element)) {
    const bool a_is_negative = operands.next_is_negative();
    product->negated = operands.next_is_negative() != a_is_negative;
  }
  if (isa::bits_of(product->a_element) == 16) {
    if (!product->a_is_in_registers) {
      product->a_is_m_major = operands.next_number(0, 1, "transposition of A") == 1;
    }
    product->b_is_n_major = operands.next_number(0, 1, "transposition of B") == 1;
  }
  operands.finish();
}

void take_types(Modifiers& modifiers, WarpgroupProduct* product) {
  const auto next = [&] {
    auto name = modifiers.take_first(
        [](std::string_view modifier) { return std::optional<std::string>(modifier); });
    if (!name) throw Unsupported("the types");
    return *name;
  };
  product->sum = ptx::type_from(next()).value_or(Type::none);
  product->a_element = matrix_element(next());
  product->b_element = matrix_element(next());
  if (!exists(product->a_element, product->b_element, product->sum)) {
    throw Unsupported("this combination of types");
  }
}

/// wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {d...}, a, b, p, 1, 1, 0, 0
void decode_product(const ptx::Instruction& instruction, Modifiers& modifiers, Decoder& decoder,
                    const isa::Isa& isa, Instruction* result) {
  auto product = std::make_shared<WarpgroupProduct>();
  product->sparse = modifiers.take("sp");
  const auto shape = modifiers.take_first(shape_from);
  if (!shape) throw Unsupported("the shape");
  product->saturate = modifiers.take("satfinite");
  const bool counts_bits = modifiers.take("popc");
  if (counts_bits && !modifiers.take("and")) throw Unsupported("without .and");
  take_types(modifiers, product.get());
  modifiers.finish();
  if (!exists(*shape, *product)) throw Unsupported("this shape with these types");
  const bool has_bits = product->a_element == MatrixElement::b1;
  if (counts_bits != has_bits) throw Unsupported("with and without .popc");
  if (product->sparse && has_bits) throw Unsupported("sparse bits");
  if (product->saturate && (has_bits || product->sum != Type::s32)) {
    throw Unsupported("modifier .satfinite");
  }
  product->n = shape->n;
  take_operands(instruction, decoder, product.get());
  if (!product->a_is_in_registers) {
    product->a_bytes = WarpgroupProduct::kRows * WarpgroupProduct::kBytesOfRow;
  }
  product->b_bytes = static_cast<std::uint32_t>(product->n * product->bytes_of_column());
  product->counter = decoder.counter(instruction);
  result->execute = isa.matrix({.op = isa::MatrixKey::Op::multiply_tiles});
  result->detail = decoder.keep(std::move(product));
}

void decode_wgmma(const ptx::Instruction& instruction, Decoder& decoder, const isa::Isa& isa,
                  Instruction* result) {
  Modifiers modifiers(instruction);
  for (const char* const name : {"sync", "aligned"}) {
    if (!modifiers.take(name)) throw Unsupported("without ." + std::string(name));
  }
  wait_for_all_lanes(decoder, result);
  if (modifiers.take("mma_async")) {
    decode_product(instruction, modifiers, decoder, isa, result);
    return;
  }
  Operands operands(instruction);
  if (modifiers.take("fence")) {
    result->execute = control::execute_product_fence;
  } else if (modifiers.take("commit_group")) {
    result->execute = control::execute_product_commit;
  } else if (modifiers.take("wait_group")) {
    result->execute = control::execute_product_wait;
    decoder.note_dependence();
    result->offset = operands.next_number(0, 7, "number of groups");
  }
  modifiers.finish();
  operands.finish();
}

/// setmaxnreg.inc.sync.aligned.u32 232
void decode_register_number(const ptx::Instruction& instruction, Instruction* result) {
  Modifiers modifiers(instruction);
  if (!modifiers.take("inc") && !modifiers.take("dec")) throw Unsupported("without .inc or .dec");
  for (const char* const name : {"sync", "aligned", "u32"}) {
    if (!modifiers.take(name)) throw Unsupported("without ." + std::string(name));
  }
  modifiers.finish();
  Operands operands(instruction);
  result->offset = operands.next_number(24, 256, "number of registers");
  operands.finish();
  if (result->offset % 8 != 0) throw Unsupported("a number of registers that 8 does not divide");
  result->execute = control::execute_set_registers;
}

}  // namespace

bool decode_warpgroup(const ptx::Instruction& instruction, Decoder& decoder, const isa::Isa& isa,
                      Instruction* result) {
  if (instruction.opcode == "wgmma") {
    decode_wgmma(instruction, decoder, isa, result);
  } else if (instruction.opcode == "setmaxnreg") {
    decode_register_number(instruction, result);
  } else {
    return false;
  }
  return true;
}

}  // namespace warpgauge::emulator::machine::decode
