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
  if (const Lowering found = lower_comparison(instruction, key)) return found;
  return lower_move(key);
}

}  // namespace warpgauge::emulator::machine::compile
