// Decoding of integer arithmetic; what it has in common with floating point as well (add, min,
// ...).
#include <optional>
#include <string>

#include "harness/emulator/machine/decode/alu_form.h"

namespace warpgauge::emulator::machine::decode {
namespace {

using ptx::Type;

/// add, sub, min, max, abs, neg, rem, sad: an operation on one to three values of its type.
void uniform(AluForm& form, AluOp op) {
  form.key.op = op;
  form.take_rounding();
  form.take_option("ftz", alu_option::kFtz);
  form.take_option("sat", alu_option::kSat);
  form.take_option("relu", alu_option::kRelu);
  form.take_option("NaN", alu_option::kNan);
  if (form.modifiers.take("xorsign")) {
    if (!form.modifiers.take("abs")) throw Unsupported("xorsign without abs");
    form.key.options |= alu_option::kXorsignAbs;
  }
  form.key.type = form.take_type();
  const Type type = form.register_type();
  switch (op) {
    case AluOp::add:
    case AluOp::sub:
      if (form.take_mixed(op == AluOp::add ? AluOp::add_mixed : AluOp::sub_mixed)) {
        form.operands(type, {form.key.from, type});
      } else {
        form.operands(type, {type, type});
      }
      break;
    case AluOp::abs:
    case AluOp::neg:
      form.operands(type, {type});
      break;
    case AluOp::sad:
      form.operands(type, {type, type, type});
      break;
    case AluOp::min:
    case AluOp::max:
      if (form.instruction.operands.size() == 4) {
        form.key.op = op == AluOp::min ? AluOp::min3 : AluOp::max3;
        form.operands(type, {type, type, type});
        break;
      }
      [[fallthrough]];
    default:
      form.operands(type, {type, type});
      break;
  }
  form.finish();
}

/// add.cc, addc, sub.cc, subc; also without: the carry makes the difference.
void with_carry(AluForm& form, AluOp op, bool in) {
  if (in) form.key.options |= alu_option::kCarryIn;
  form.take_option("cc", alu_option::kCarryOut);
  if (form.key.options == 0) return uniform(form, op);
  form.key.op = op;
  form.key.type = form.take_type();
  const Type type = form.key.type;
  form.operands(type, {type, type});
  form.finish();
}

Type twice_as_wide(Type type) {
  switch (type) {
    case Type::u16:
      return Type::u32;
    case Type::s16:
      return Type::s32;
    case Type::u32:
      return Type::u64;
    case Type::s32:
      return Type::s64;
    default:
      throw Unsupported("a wide product of this type");
  }
}

/// mul and mad of integers (`lo`, `hi` or `wide`) and of floating point (mad is fma there).
void product(AluForm& form, bool plus, bool carry_in) {
  using Ops = std::pair<AluOp, AluOp>;
  const auto ops = form.modifiers.take_one<Ops>({{"lo", Ops{AluOp::mul, AluOp::mad}},
                                                 {"hi", Ops{AluOp::mul_hi, AluOp::mad_hi}},
                                                 {"wide", Ops{AluOp::mul_wide, AluOp::mad_wide}}});
  form.take_rounding();
  form.take_option("ftz", alu_option::kFtz);
  form.take_option("sat", alu_option::kSat);
  form.take_option("relu", alu_option::kRelu);
  form.take_option("cc", alu_option::kCarryOut);
  if (carry_in) form.key.options |= alu_option::kCarryIn;
  form.key.type = form.take_type();
  if (form.is_integer() != ops.has_value()) throw Unsupported("lo, hi or wide are of integers");
  form.key.op = !ops ? (plus ? AluOp::fma : AluOp::mul) : plus ? ops->second : ops->first;
  const Type type = form.register_type();
  const bool is_wide = form.key.op == AluOp::mul_wide || form.key.op == AluOp::mad_wide;
  const Type to = is_wide ? twice_as_wide(type) : type;
  if (plus) {
    form.operands(to, {type, type, to});
  } else {
    form.operands(to, {type, type});
  }
  form.finish();
}

void product24(AluForm& form, bool plus) {
  using Ops = std::pair<AluOp, AluOp>;
  const auto ops = form.modifiers.take_one<Ops>({{"lo", Ops{AluOp::mul24_lo, AluOp::mad24_lo}},
                                                 {"hi", Ops{AluOp::mul24_hi, AluOp::mad24_hi}}});
  if (!ops) throw Unsupported("neither lo nor hi");
  form.take_option("sat", alu_option::kSat);
  form.key.type = form.take_type();
  const Type type = form.key.type;
  form.key.op = plus ? ops->second : ops->first;
  if (plus) {
    form.operands(type, {type, type, type});
  } else {
    form.operands(type, {type, type});
  }
  form.finish();
}

void dot_product(AluForm& form, std::optional<AluOp> op) {
  if (!op) {
    op = form.modifiers.take_one<AluOp>({{"lo", AluOp::dp2a_lo}, {"hi", AluOp::dp2a_hi}});
    if (!op) throw Unsupported("neither lo nor hi");
  }
  form.key.op = *op;
  form.key.type = form.take_type();
  const Type second = form.take_type();
  if (second == Type::s32) {
    form.key.options |= alu_option::kSecondSigned;
  } else if (second != Type::u32) {
    throw Unsupported("the type of the second operand");
  }
  form.operands(Type::u32, {Type::u32, Type::u32, Type::u32});
  form.finish();
}

}  // namespace

bool decode_integer(AluForm& form) {
  const std::string& opcode = form.instruction.opcode;
  if (opcode == "add") return with_carry(form, AluOp::add, false), true;
  if (opcode == "addc") return with_carry(form, AluOp::add, true), true;
  if (opcode == "sub") return with_carry(form, AluOp::sub, false), true;
  if (opcode == "subc") return with_carry(form, AluOp::sub, true), true;
  if (opcode == "mul") return product(form, false, false), true;
  if (opcode == "mad") return product(form, true, false), true;
  if (opcode == "madc") return product(form, true, true), true;
  if (opcode == "mul24") return product24(form, false), true;
  if (opcode == "mad24") return product24(form, true), true;
  if (opcode == "min") return uniform(form, AluOp::min), true;
  if (opcode == "max") return uniform(form, AluOp::max), true;
  if (opcode == "abs") return uniform(form, AluOp::abs), true;
  if (opcode == "neg") return uniform(form, AluOp::neg), true;
  if (opcode == "rem") return uniform(form, AluOp::rem), true;
  if (opcode == "sad") return uniform(form, AluOp::sad), true;
  if (opcode == "dp4a") return dot_product(form, AluOp::dp4a), true;
  if (opcode == "dp2a") return dot_product(form, std::nullopt), true;
  return false;
}

}  // namespace warpgauge::emulator::machine::decode
