// Handlers of calls, returns and exits.
#pragma once

#include <string_view>

#include "harness/emulator/machine/core/code.h"
#include "harness/emulator/machine/core/warp.h"

namespace warpgauge::emulator::machine::control {

// Instruction::detail is the CallSite.
void call(Warp& warp, const Instruction& instruction);
void call_indirect(Warp& warp, const Instruction& instruction);
void call_builtin(Warp& warp, const Instruction& instruction);

void execute_return(Warp& warp, const Instruction& instruction);
void execute_exit(Warp& warp, const Instruction& instruction);

/// The function that the engine itself executes under this name; nullptr if there is none.
Builtin find_builtin(std::string_view name);

}  // namespace warpgauge::emulator::machine::control
