// Decoding of what only floating point has.
#include <string>

#include "harness/emulator/machine/decode/alu_form.h"

namespace warpgauge::emulator::machine::decode {
namespace {

using ptx::Type;

void fused(AluForm& form) {
  form.key.op = AluOp::fma;
  form.take_rounding();
  form.take_option("ftz", alu_option::kFtz);
  form.take_option("sat", alu_option::kSat);
  form.take_option("relu", alu_option::kRelu);
  form.key.type = form.take_type();
  const Type type = form.register_type();
  const Type factor = form.take_mixed(AluOp::fma_mixed) ? form.key.from : type;
  form.operands(type, {factor, factor, type});
  form.finish();
}

/// div of integers and of floating point: .approx, .full or rounded.
void divide(AluForm& form) {
  form.key.op = AluOp::div;
  form.take_rounding();
  form.take_option("full", alu_option::kFull);
  form.take_option("approx", alu_option::kApprox);
  form.take_option("ftz", alu_option::kFtz);
  form.key.type = form.take_type();
  form.operands(form.key.type, {form.key.type, form.key.type});
  form.finish();
}

/// A function of one value.
void of_one_value(AluForm& form, AluOp op) {
  form.key.op = op;
  form.take_rounding();
  form.take_option("approx", alu_option::kApprox);
  form.take_option("ftz", alu_option::kFtz);
  form.key.type = form.take_type();
  const Type type = form.register_type();
  form.operands(type, {type});
  form.finish();
}

void copysign(AluForm& form) {
  form.key.op = AluOp::copysign;
  form.key.type = form.take_type();
  form.operands(form.key.type, {form.key.type, form.key.type});
  form.finish();
}

}  // namespace

bool decode_float(AluForm& form) {
  const std::string& opcode = form.instruction.opcode;
  if (opcode == "fma") return fused(form), true;
  if (opcode == "div") return divide(form), true;
  if (opcode == "rcp") return of_one_value(form, AluOp::rcp), true;
  if (opcode == "sqrt") return of_one_value(form, AluOp::sqrt), true;
  if (opcode == "rsqrt") return of_one_value(form, AluOp::rsqrt), true;
  if (opcode == "ex2") return of_one_value(form, AluOp::ex2), true;
  if (opcode == "lg2") return of_one_value(form, AluOp::lg2), true;
  if (opcode == "sin") return of_one_value(form, AluOp::sin), true;
  if (opcode == "cos") return of_one_value(form, AluOp::cos), true;
  if (opcode == "tanh") return of_one_value(form, AluOp::tanh), true;
  if (opcode == "copysign") return copysign(form), true;
  return false;
}

}  // namespace warpgauge::emulator::machine::decode
