// Handlers of branches and traps.
#pragma once

#include <vector>

#include "harness/emulator/machine/core/instruction.h"
#include "harness/emulator/machine/core/warp.h"

namespace warpgauge::emulator::machine::control {

/// The three kinds of branches; Instruction::detail is the target, Instruction::offset the place in
/// KernelCode::branches.
struct Branches {
  Execute forward, back;
  Execute back_polling;  ///< ends a loop that waits for memory to change
};
extern const Branches kBranches;
extern const Branches kWatched;  ///< count how often they were taken; see to their guards
extern const Branches kJumps;    ///< are not in the PTX text: they count as no instruction

/// Detail of branch_by_index: source 0 is the index.
struct BranchTable {
  std::vector<const Instruction*> targets;
};

void branch_by_index(Warp& warp, const Instruction& instruction);

void do_nothing(Warp& warp, const Instruction& instruction);
void trap(Warp& warp, const Instruction& instruction);

}  // namespace warpgauge::emulator::machine::control
