// Whether accesses to global memory lie in allocations and have the right to be there.
#pragma once

#include <cstdint>

#include "harness/emulator/machine/core/access.h"
#include "harness/emulator/machine/core/lane_addresses.h"
#include "harness/emulator/machine/core/warp.h"
#include "harness/emulator/machine/memory/memory.h"

namespace warpgauge::emulator::machine::memory {

/// Global memory: looks for the allocations that the lanes access and remembers their bounds.
/// Faults if a lane is in none, or in one of which it has not the right to be.
void admit(const Warp& warp, const Instruction& instruction, const Access& access,
           const LaneAddresses<std::uint64_t>& lanes);
/// The same for one lane that accesses `bytes` bytes; remembers nothing. Returns the allocation.
Memory::Extent admit_lane(const Warp& warp, const Instruction& instruction, const Access& access,
                          int lane, std::uint64_t address, std::uint64_t bytes);

/// Throws the fault of a range that is not all in one live allocation, or that may not be written.
/// `what` names it: "destination of cp.async.bulk".
void admit_range(const Warp& warp, const Instruction& instruction, AccessEffect effect, int lane,
                 std::uint64_t address, std::uint64_t bytes, const char* what);

}  // namespace warpgauge::emulator::machine::memory
