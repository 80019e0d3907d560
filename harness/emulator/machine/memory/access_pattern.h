// The rare half of a memory access: its addresses lie otherwise than the last time. The frequent
// half is in isa/memory_lanes.h.
#pragma once

#include "harness/emulator/machine/memory/access.h"
#include "harness/emulator/machine/memory/lane_addresses.h"
#include "harness/emulator/machine/warp.h"
#include "metrics/counting_rules.h"

namespace warpgauge::emulator::machine::memory {

/// Bring the access's cache up to date and count one execution. They fault if a lane is misaligned.
/// What an access to shared memory costs is remembered, too; of the others it is quickly found.
void remember_shared(const Warp& warp, const Instruction& instruction, const Access& access,
                     const LaneAddresses<std::uint32_t>& lanes,
                     const LaneDistances<std::uint32_t>& distances);
void remember_global(const Warp& warp, const Instruction& instruction, const Access& access,
                     const LaneAddresses<std::uint64_t>& lanes,
                     const LaneDistances<std::uint64_t>& distances,
                     const metrics::GlobalCost& cost);
void remember_local(const Warp& warp, const Instruction& instruction, const Access& access,
                    const LaneAddresses<std::uint64_t>& lanes,
                    const LaneDistances<std::uint64_t>& distances, std::uint32_t sectors);
/// cp.async: both sides at once, for their costs depend on each other. Lanes that read nothing are
/// not in `from`, which is not empty.
void remember_copy(const Warp& warp, const Instruction& instruction, const CopyDetail& copy,
                   const LaneAddresses<std::uint32_t>& to,
                   const LaneDistances<std::uint32_t>& to_distances,
                   const LaneAddresses<std::uint64_t>& from,
                   const LaneDistances<std::uint64_t>& from_distances);

}  // namespace warpgauge::emulator::machine::memory
