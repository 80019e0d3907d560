// Handlers that other files of this folder export to matrix.cpp.
#pragma once

#include "harness/emulator/machine/instruction.h"
#include "harness/emulator/machine/warp.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {

void multiply_tiles(Warp& warp, const Instruction& instruction);  ///< wgmma.mma_async

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
