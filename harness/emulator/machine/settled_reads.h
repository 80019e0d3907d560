// Loads that no store of their launch can race with.
#pragma once

#include <vector>

#include "harness/emulator/machine/core/launch.h"
#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/machine/program.h"

namespace warpgauge::emulator::machine {

/// By counter: whether the instruction only reads allocations that the launch does not write, as
/// the kernel's pointers say, which it keeps. Other launches may write them.
std::vector<bool> settled_reads(const Kernel& kernel, const Launch& launch,
                                const memory::Memory& memory);

}  // namespace warpgauge::emulator::machine
