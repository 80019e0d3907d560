// Handlers that other files of this folder export to matrix.cpp.
#pragma once

#include "harness/emulator/machine/core/instruction.h"
#include "harness/emulator/machine/core/warp.h"
#include "harness/emulator/ptx/type.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {

void multiply_tiles(Warp& warp, const Instruction& instruction);  ///< wgmma.mma_async
Execute narrow_product_handler(ptx::Type sum);                    ///< mma with a .kind

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
