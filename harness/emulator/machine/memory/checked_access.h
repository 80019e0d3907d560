// Shows accesses to the checks of the launch.
#pragma once

#include <cstdint>

#include "harness/emulator/machine/checks/trace.h"
#include "harness/emulator/machine/core/access_details.h"
#include "harness/emulator/machine/core/lane_addresses.h"
#include "harness/emulator/machine/core/warp.h"

namespace warpgauge::emulator::machine::memory {

/// For warps with MemoryContext::observed, before the access is made. `look_at_run` may be nullptr.
void observe_shared(const Warp& warp, const Instruction& instruction, const Access& access,
                    const LaneAddresses<std::uint32_t>& lanes, checks::LookAtRun look_at_run);
void observe_global(const Warp& warp, const Instruction& instruction, const Access& access,
                    const LaneAddresses<std::uint64_t>& lanes);
/// The same of cp.async.
void observe_copy(const Warp& warp, const Instruction& instruction, const CopyDetail& copy,
                  const LaneAddresses<std::uint32_t>& to, const LaneAddresses<std::uint64_t>& from);

}  // namespace warpgauge::emulator::machine::memory
