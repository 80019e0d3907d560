// Parameters of calls in registers.
#pragma once

#include <memory>

#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine::decode {

/// The function with those of its parameters and results, and of the calls in it, as registers that
/// are only read and written as a whole: loads and stores of them are moves. Its body keeps its
/// positions. nullptr: there are none.
///
/// Local memory, where the others are, lies apart for each lane, registers of a warp together.
std::unique_ptr<const ptx::Function> with_parameters_in_registers(const ptx::Function& function);

}  // namespace warpgauge::emulator::machine::decode
