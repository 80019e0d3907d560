// The choice of what lowers an instruction.
#include "harness/emulator/machine/compile/lowering.h"

namespace warpgauge::emulator::machine::compile {

Lowering lowering(const Instruction& instruction, const Operation& operation) {
  if (operation.kind == Operation::Kind::convert) {
    return lower_conversion(instruction, operation.convert);
  }
  if (operation.kind != Operation::Kind::alu) return nullptr;
  const isa::AluKey& key = operation.alu;
  if (const Lowering found = lower_lanewise(key)) return found;
  if (const Lowering found = lower_product(key)) return found;
  if (const Lowering found = lower_approximation(key)) return found;
  if (const Lowering found = lower_comparison(instruction, key)) return found;
  return lower_move(key);
}

Subnormals subnormals_of(const Operation& operation) {
  using ptx::Type;
  const auto is_real = [](Type type) { return type == Type::f32 || type == Type::f64; };
  if (operation.kind == Operation::Kind::convert) {
    const bool any = !is_real(operation.convert.from) || operation.convert.to == Type::f16;
    return any ? Subnormals::any : Subnormals::kept;
  }
  if (operation.kind != Operation::Kind::alu || !is_real(operation.alu.type)) {
    return Subnormals::any;
  }
  switch (operation.alu.op) {
    case isa::AluOp::neg:
    case isa::AluOp::abs:
    case isa::AluOp::selp:
    case isa::AluOp::mov:
      return Subnormals::any;
    default:
      return (operation.alu.options & isa::alu_option::kFtz) != 0 ? Subnormals::flushed
                                                                  : Subnormals::kept;
  }
}

}  // namespace warpgauge::emulator::machine::compile
