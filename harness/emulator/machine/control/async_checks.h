// Rules about mbarriers, and about what is still under way when threads and blocks end.
#pragma once

#include <cstdint>

#include "harness/emulator/machine/instruction.h"
#include "harness/emulator/machine/lanes.h"
#include "harness/emulator/machine/warp.h"

namespace warpgauge::emulator::machine::control {

struct Block;

/// A lane uses an mbarrier of `block`, which has a history; `by_proxy`: a copy is to arrive at it.
void check_mbarrier(const Warp& warp, const Instruction& instruction, int lane, Block& block,
                    std::uint32_t offset, bool by_proxy);
/// These lanes exit.
void check_exit(const Warp& warp, Mask lanes);
/// All threads of the block have.
void check_end(Block& block);
/// Of its mbarriers that wait for bytes of which none is on its way.
void check_bytes(Block& block);

}  // namespace warpgauge::emulator::machine::control
