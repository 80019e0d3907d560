// Keeps, for each memory instruction, the addresses of the execution that shows most. Only those
// are looked at that lie otherwise than the one before: the others cost the same.
#pragma once

#include <cstdint>

#include "harness/emulator/machine/core/access.h"
#include "harness/emulator/machine/core/warp.h"
#include "harness/emulator/machine/memory/access_cost.h"
#include "metrics/counting/warp_access.h"

namespace warpgauge::emulator::machine::memory {

/// Whether the warp comes before that of the record.
bool was_before(const Warp& warp, const metrics::WarpAccess& record);

/// The record of an access, of which `cache` has the cost.
template <typename Address>
metrics::WarpAccess recorded(const Warp& warp, const AccessCache& cache, const Access& access,
                             const CountedAddresses<Address>& addresses, Mask lanes);

}  // namespace warpgauge::emulator::machine::memory
