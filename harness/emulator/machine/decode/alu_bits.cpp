// Decoding of operations on bits.
#include <optional>
#include <string>
#include <string_view>

#include "harness/emulator/machine/decode/alu_form.h"

namespace warpgauge::emulator::machine::decode {
namespace {

using ptx::Type;

void logic(AluForm& form, AluOp op, AluOp predicate_op, bool is_unary) {
  form.key.type = form.take_type();
  const Type type = form.key.type;
  form.key.op = type == Type::pred ? predicate_op : op;
  if (is_unary) {
    form.operands(type, {type});
  } else {
    form.operands(type, {type, type});
  }
  // not.pred is a move of the negation.
  if (is_unary && type == Type::pred) form.result.flags ^= alu_flag::kNegatedSource0;
  form.finish();
}

void shift(AluForm& form, AluOp op) {
  form.key.op = op;
  form.key.type = form.take_type();
  form.operands(form.key.type, {form.key.type, Type::u32});
  form.finish();
}

/// .wrap or .clamp, one of them.
void take_mode(AluForm& form) {
  const auto wrap = form.modifiers.take_one<bool>({{"wrap", true}, {"clamp", false}});
  if (!wrap) throw Unsupported("neither wrap nor clamp");
  if (*wrap) form.key.options |= alu_option::kWrap;
}

void funnel_shift(AluForm& form) {
  const auto op = form.modifiers.take_one<AluOp>({{"l", AluOp::shf_left}, {"r", AluOp::shf_right}});
  if (!op) throw Unsupported("neither l nor r");
  form.key.op = *op;
  take_mode(form);
  form.key.type = form.take_type();
  form.operands(Type::u32, {Type::u32, Type::u32, Type::u32});
  form.finish();
}

void modal(AluForm& form, AluOp op) {
  form.key.op = op;
  take_mode(form);
  form.key.type = form.take_type();
  form.operands(Type::u32, {Type::u32, Type::u32});
  form.finish();
}

/// Counts something of one value: the result is u32.
void count(AluForm& form, AluOp op) {
  form.key.op = op;
  form.take_option("shiftamt", op == AluOp::bfind ? alu_option::kShiftAmount : 0);
  form.key.type = form.take_type();
  form.operands(Type::u32, {form.key.type});
  form.finish();
}

void of_one_operand(AluForm& form, AluOp op) {
  form.key.op = op;
  form.key.type = form.take_type();
  form.operands(form.key.type, {form.key.type});
  form.finish();
}

void permute(AluForm& form) {
  form.key.type = form.take_type();
  form.key.op = form.modifiers
                    .take_one<AluOp>({{"f4e", AluOp::prmt_f4e},
                                      {"b4e", AluOp::prmt_b4e},
                                      {"rc8", AluOp::prmt_rc8},
                                      {"ecl", AluOp::prmt_ecl},
                                      {"ecr", AluOp::prmt_ecr},
                                      {"rc16", AluOp::prmt_rc16}})
                    .value_or(AluOp::prmt);
  form.operands(Type::u32, {Type::u32, Type::u32, Type::u32});
  form.finish();
}

void find_nth(AluForm& form) {
  form.key.op = AluOp::fns;
  form.key.type = form.take_type();
  form.operands(Type::u32, {Type::u32, Type::u32, Type::u32});
  form.finish();
}

void extract_field(AluForm& form) {
  form.key.op = AluOp::bfe;
  form.key.type = form.take_type();
  form.operands(form.key.type, {form.key.type, Type::u32, Type::u32});
  form.finish();
}

void insert_field(AluForm& form) {
  form.key.op = AluOp::bfi;
  form.key.type = form.take_type();
  form.operands(form.key.type, {form.key.type, form.key.type, Type::u32, Type::u32});
  form.finish();
}

/// lop3.b32 d, a, b, c, table; lop3.or.b32 d|p, a, b, c, table, q.
void lop3(AluForm& form) {
  const auto combine =
      form.modifiers.take_one<std::uint16_t>({{"or", alu_flag::kOr}, {"and", alu_flag::kAnd}});
  form.key.op = combine ? AluOp::pred_lop3 : AluOp::lop3;
  form.key.type = form.take_type();
  form.count_operands(combine ? 6 : 5);
  const ptx::Operand& table = form.operand(4);
  if (table.kind != ptx::Operand::Kind::integer || table.bits > 255) {
    throw Unsupported("a truth table that is not a number of 8 bits");
  }
  form.result.offset = static_cast<std::int64_t>(table.bits);
  const ptx::Operand& to = form.operand(0);
  if (combine) {
    if (to.kind != ptx::Operand::Kind::pair) throw Unsupported("no predicate to write");
    form.destination(to.elements.at(0), Type::u32);
    form.second_destination(to.elements.at(1), Type::pred);
    form.source(3, form.operand(5), Type::pred);
    form.result.flags |= static_cast<std::uint16_t>(*combine << alu_flag::kCombineShift);
  } else {
    form.destination(to, Type::u32);
  }
  for (int n = 0; n < 3; ++n) form.source(n, form.operand(n + 1), Type::u32);
  form.finish();
}

}  // namespace

bool decode_bits(AluForm& form) {
  const std::string& opcode = form.instruction.opcode;
  if (opcode == "and") return logic(form, AluOp::logic_and, AluOp::pred_and, false), true;
  if (opcode == "or") return logic(form, AluOp::logic_or, AluOp::pred_or, false), true;
  if (opcode == "xor") return logic(form, AluOp::logic_xor, AluOp::pred_xor, false), true;
  if (opcode == "not") return logic(form, AluOp::logic_not, AluOp::pred_mov, true), true;
  if (opcode == "cnot") return of_one_operand(form, AluOp::cnot), true;
  if (opcode == "lop3") return lop3(form), true;
  if (opcode == "shl") return shift(form, AluOp::shl), true;
  if (opcode == "shr") return shift(form, AluOp::shr), true;
  if (opcode == "shf") return funnel_shift(form), true;
  if (opcode == "prmt") return permute(form), true;
  if (opcode == "popc") return count(form, AluOp::popc), true;
  if (opcode == "clz") return count(form, AluOp::clz), true;
  if (opcode == "bfind") return count(form, AluOp::bfind), true;
  if (opcode == "brev") return of_one_operand(form, AluOp::brev), true;
  if (opcode == "fns") return find_nth(form), true;
  if (opcode == "bfe") return extract_field(form), true;
  if (opcode == "bfi") return insert_field(form), true;
  if (opcode == "szext") return modal(form, AluOp::szext), true;
  if (opcode == "bmsk") return modal(form, AluOp::bmsk), true;
  return false;
}

}  // namespace warpgauge::emulator::machine::decode
