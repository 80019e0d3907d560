// Keeps, for each memory instruction, the addresses of the execution that shows most. Only those
// are looked at that lie otherwise than the one before: the others cost the same.
#pragma once

#include <cstdint>

#include "harness/emulator/machine/memory/access.h"
#include "harness/emulator/machine/memory/access_cost.h"
#include "harness/emulator/machine/warp.h"
#include "metrics/warp_access.h"

namespace warpgauge::emulator::machine::memory {

/// Puts the access into `record` (of its counter) if it shows more than what is there. `cache` has
/// its cost. As long as an earlier warp of the same block could take the place, the cache is made
/// to forget how the access lay, so that the next one is looked at even if it lies the same.
void record_access(metrics::WarpAccess& record, const Warp& warp, AccessCache& cache,
                   const Access& access, const CountedAddresses<std::uint32_t>& addresses,
                   Mask lanes);
void record_access(metrics::WarpAccess& record, const Warp& warp, AccessCache& cache,
                   const Access& access, const CountedAddresses<std::uint64_t>& addresses,
                   Mask lanes);

}  // namespace warpgauge::emulator::machine::memory
