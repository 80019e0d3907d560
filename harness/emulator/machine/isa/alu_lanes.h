// Operands and options of arithmetic instructions.
#pragma once

#include "harness/emulator/machine/isa/alu.h"
#include "harness/emulator/machine/isa/lanes.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

/// A predicate that is a source, negated where the instruction says so.
WARPGAUGE_INLINE Mask predicate(const Warp& warp, const Instruction& instruction, int n) {
  const Mask mask = *source<Mask>(warp, instruction, n);
  return (instruction.flags >> n & alu_flag::kNegatedSource0) != 0 ? ~mask : mask;
}

/// Whether a key has no options but these.
WARPGAUGE_INLINE bool only(const AluKey& key, unsigned options) {
  return (key.options & ~options) == 0;
}

}  // namespace
}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
