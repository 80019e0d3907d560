// griddepcontrol: launches that may begin before the one that they depend on has ended.
#pragma once

#include "harness/emulator/machine/core/instruction.h"
#include "harness/emulator/machine/core/warp.h"

namespace warpgauge::emulator::machine::control {

// Launches run one after the other here: there is nothing to wait for, but the checks note it.
void let_dependents_begin(Warp& warp, const Instruction& instruction);
void wait_for_dependencies(Warp& warp, const Instruction& instruction);

}  // namespace warpgauge::emulator::machine::control
