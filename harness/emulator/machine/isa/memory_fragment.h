// Handlers of wmma.load and wmma.store. For the files of this folder only.
#pragma once

#include "harness/emulator/machine/isa/lanes.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {

void execute_load_fragment(Warp& warp, const Instruction& instruction);
void execute_store_fragment(Warp& warp, const Instruction& instruction);

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
