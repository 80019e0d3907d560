// Decoding of arithmetic instructions: what all of them have in common.
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "harness/emulator/machine/decode/alu_form.h"
#include "harness/emulator/machine/decode/families.h"

namespace warpgauge::emulator::machine::decode {
namespace {

using ptx::Type;

/// Handlers distinguish integers only by width and sign.
Type without_bits(Type type) {
  switch (type) {
    case Type::b8:
      return Type::u8;
    case Type::b16:
      return Type::u16;
    case Type::b32:
      return Type::u32;
    case Type::b64:
      return Type::u64;
    default:
      return type;
  }
}

struct ElementType {
  Type type;
  bool packed;
};

/// A type by its name; of two elements in a register (not all of these are types of declarations)
/// the element's.
std::optional<ElementType> element_type(std::string_view name) {
  constexpr std::pair<std::string_view, Type> kPacked[] = {{"f16x2", Type::f16},
                                                           {"bf16x2", Type::bf16},
                                                           {"u16x2", Type::u16},
                                                           {"s16x2", Type::s16},
                                                           {"f32x2", Type::f32}};
  for (const auto& [packed, element] : kPacked) {
    if (name == packed) return ElementType{element, true};
  }
  const std::optional<Type> type = ptx::type_from(name);
  if (!type) return std::nullopt;
  return ElementType{*type, false};
}

}  // namespace

Type unsigned_of(int bytes) {
  switch (bytes) {
    case 1:
      return Type::u8;
    case 2:
      return Type::u16;
    case 4:
      return Type::u32;
    case 8:
      return Type::u64;
    case 16:
      return Type::b128;
    default:
      throw Unsupported("the type");
  }
}

ptx::Type AluForm::take_type() {
  const auto type = modifiers.take_first(element_type);
  if (!type) throw Unsupported("no type");
  if (type->packed) key.options |= alu_option::kPacked;
  return without_bits(type->type);
}

void AluForm::take_option(std::string_view modifier, std::uint16_t option) {
  if (modifiers.take(modifier)) key.options |= option;
}

void AluForm::take_rounding() {
  const auto rounding = modifiers.take_one<Rounding>(
      {{"rn", Rounding::rn}, {"rz", Rounding::rz}, {"rm", Rounding::rm}, {"rp", Rounding::rp}});
  key.rounding = rounding.value_or(Rounding::none);
}

bool AluForm::take_mixed(AluOp op) {
  if (key.type != Type::f32) return false;
  const auto narrow = modifiers.take_one<Type>({{"f16", Type::f16}, {"bf16", Type::bf16}});
  if (!narrow) return false;
  key.op = op;
  key.from = *narrow;
  return true;
}

bool AluForm::is_integer() const { return key.type >= Type::u8 && key.type <= Type::s64; }

const ptx::Operand& AluForm::operand(std::size_t n) const {
  if (n >= instruction.operands.size()) throw Unsupported("too few operands");
  return instruction.operands[n];
}

ptx::Type AluForm::register_type() const {
  if ((key.options & alu_option::kPacked) == 0) return key.type;
  return key.type == Type::f32 ? Type::b64 : Type::b32;
}

void AluForm::destination(const ptx::Operand& operand, ptx::Type type) {
  result.destination = decoder.destination(operand, type);
}

void AluForm::second_destination(const ptx::Operand& operand, ptx::Type type) {
  result.second_destination = decoder.destination(operand, type);
  result.flags |= alu_flag::kSecondDestination;
}

void AluForm::source(int n, const ptx::Operand& operand, ptx::Type type) {
  if (operand.negated) {
    if (type != Type::pred) throw Unsupported("a negated operand that is not a predicate");
    result.flags |= static_cast<std::uint16_t>(alu_flag::kNegatedSource0 << n);
  }
  result.sources[n] = decoder.source(operand, type);
}

void AluForm::operands(ptx::Type to, std::initializer_list<ptx::Type> from) {
  count_operands(from.size() + 1);
  destination(operand(0), to);
  int n = 0;
  for (const Type type : from) {
    source(n, operand(n + 1), type);
    ++n;
  }
}

void AluForm::count_operands(std::size_t count) const {
  if (instruction.operands.size() != count) {
    throw Unsupported(std::to_string(instruction.operands.size()) + " operands instead of " +
                      std::to_string(count));
  }
}

void AluForm::finish() {
  modifiers.finish();
  if (is_integer() && key.rounding != Rounding::none) throw Unsupported("rounding of integers");
  result.execute = isa.alu(key);
  if (result.execute == nullptr) throw Unsupported("this combination of modifiers");
  decoder.note({.kind = compile::Operation::Kind::alu, .alu = key});
}

bool decode_alu(const ptx::Instruction& instruction, Decoder& decoder, const isa::Isa& isa,
                Instruction* result) {
  AluForm form(instruction, decoder, isa, result);
  return decode_integer(form) || decode_bits(form) || decode_float(form) ||
         decode_comparison(form) || decode_move(form);
}

}  // namespace warpgauge::emulator::machine::decode
