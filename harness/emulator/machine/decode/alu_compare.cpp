// Decoding of comparison and selection.
#include <string>

#include "harness/emulator/machine/decode/alu_form.h"

namespace warpgauge::emulator::machine::decode {
namespace {

using ptx::Type;

void take_comparison(AluForm& form) {
  // lo, ls, hi, hs are the names for unsigned integers.
  const auto comparison = form.modifiers.take_one<Comparison>({{"eq", Comparison::eq},
                                                               {"ne", Comparison::ne},
                                                               {"lt", Comparison::lt},
                                                               {"le", Comparison::le},
                                                               {"gt", Comparison::gt},
                                                               {"ge", Comparison::ge},
                                                               {"equ", Comparison::equ},
                                                               {"neu", Comparison::neu},
                                                               {"ltu", Comparison::ltu},
                                                               {"leu", Comparison::leu},
                                                               {"gtu", Comparison::gtu},
                                                               {"geu", Comparison::geu},
                                                               {"num", Comparison::num},
                                                               {"nan", Comparison::nan},
                                                               {"lo", Comparison::lt},
                                                               {"ls", Comparison::le},
                                                               {"hi", Comparison::gt},
                                                               {"hs", Comparison::ge}});
  if (!comparison) throw Unsupported("no comparison");
  form.key.comparison = *comparison;
}

/// .and, .or, .xor with the predicate that is operand 3; the number of operands that makes.
std::size_t take_combination(AluForm& form) {
  const auto combine = form.modifiers.take_one<std::uint16_t>(
      {{"and", alu_flag::kAnd}, {"or", alu_flag::kOr}, {"xor", alu_flag::kXor}});
  if (!combine) return 3;
  form.result.flags |= static_cast<std::uint16_t>(*combine << alu_flag::kCombineShift);
  form.source(2, form.operand(3), Type::pred);
  return 4;
}

void compared_operands(AluForm& form, Type type) {
  form.source(0, form.operand(1), type);
  form.source(1, form.operand(2), type);
}

void setp(AluForm& form) {
  form.key.op = AluOp::setp;
  take_comparison(form);
  form.count_operands(take_combination(form));
  form.take_option("ftz", alu_option::kFtz);
  form.key.type = form.take_type();
  const ptx::Operand& to = form.operand(0);
  if (to.kind == ptx::Operand::Kind::pair) {
    form.destination(to.elements.at(0), Type::pred);
    form.second_destination(to.elements.at(1), Type::pred);
  } else {
    if ((form.key.options & alu_option::kPacked) != 0) throw Unsupported("only one predicate");
    form.destination(to, Type::pred);
  }
  compared_operands(form, form.register_type());
  form.finish();
}

/// The value that set writes where the comparison holds.
std::uint32_t truth(Type type) {
  switch (type) {
    case Type::u16:
    case Type::s16:
      return 0xffff;
    case Type::u32:
    case Type::s32:
      return 0xffffffff;
    case Type::f16:
      return 0x3c00;
    case Type::bf16:
      return 0x3f80;
    case Type::f32:
      return 0x3f800000;
    default:
      throw Unsupported("the result's type");
  }
}

void set(AluForm& form) {
  form.key.op = AluOp::set;
  take_comparison(form);
  form.count_operands(take_combination(form));
  form.take_option("ftz", alu_option::kFtz);
  const auto packed = [&] { return (form.key.options & alu_option::kPacked) != 0; };
  form.key.type = form.take_type();
  const bool packed_result = packed();
  form.key.options &= static_cast<std::uint16_t>(~alu_option::kPacked);
  form.key.from = form.take_type();
  if (packed_result && !packed()) throw Unsupported("the types");
  // The results of two halves are two halves, of any type.
  const bool narrow = ptx::bytes_of(form.key.type) == 2;
  std::uint64_t value = truth(form.key.type);
  if (packed()) value &= 0xffff;
  form.result.offset =
      static_cast<std::int64_t>(value | (narrow && !packed() ? std::uint64_t{1} << 32 : 0));
  form.destination(form.operand(0), packed() || !narrow ? Type::b32 : Type::b16);
  compared_operands(form, packed() ? Type::b32 : form.key.from);
  form.finish();
}

void testp(AluForm& form) {
  form.key.op = AluOp::testp;
  const auto asked = form.modifiers.take_one<Comparison>({{"finite", Comparison::finite},
                                                          {"infinite", Comparison::infinite},
                                                          {"number", Comparison::number},
                                                          {"notanumber", Comparison::notanumber},
                                                          {"normal", Comparison::normal},
                                                          {"subnormal", Comparison::subnormal}});
  if (!asked) throw Unsupported("no class");
  form.key.comparison = *asked;
  form.key.type = form.take_type();
  form.operands(Type::pred, {form.key.type});
  form.finish();
}

void selp(AluForm& form) {
  form.key.op = AluOp::selp;
  const Type type = form.take_type();
  form.key.type = unsigned_of(ptx::bytes_of(type));
  form.operands(type, {type, type, Type::pred});
  form.finish();
}

void slct(AluForm& form) {
  form.key.op = AluOp::slct;
  form.take_option("ftz", alu_option::kFtz);
  const Type type = form.take_type();
  form.key.type = unsigned_of(ptx::bytes_of(type));
  form.key.from = form.take_type();
  form.operands(type, {type, type, form.key.from});
  form.finish();
}

}  // namespace

bool decode_comparison(AluForm& form) {
  const std::string& opcode = form.instruction.opcode;
  if (opcode == "setp") return setp(form), true;
  if (opcode == "selp") return selp(form), true;
  if (opcode == "set") return set(form), true;
  if (opcode == "slct") return slct(form), true;
  if (opcode == "testp") return testp(form), true;
  return false;
}

}  // namespace warpgauge::emulator::machine::decode
