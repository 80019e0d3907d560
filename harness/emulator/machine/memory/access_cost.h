// The cost of one execution of a memory instruction, by the rules of metrics/counting_rules.h.
#pragma once

#include <array>
#include <cstdint>

#include "harness/emulator/machine/memory/access.h"
#include "harness/emulator/machine/memory/access_cache.h"
#include "metrics/counting_rules.h"

namespace warpgauge::emulator::machine::memory {

template <typename Address>
using CountedAddresses = std::array<Address, kLanes>;  ///< multiples of Access::counted_width

/// Put the cost of an access, and what it counts as, into its cache. Addresses of lanes that are
/// not in `lanes` do not matter.
void count_shared(AccessCache& cache, const Access& access,
                  const CountedAddresses<std::uint32_t>& addresses, Mask lanes);
void count_global(AccessCache& cache, const Access& access, const metrics::GlobalCost& cost,
                  Mask lanes);
void count_local(AccessCache& cache, std::uint32_t sectors, Mask lanes);
void count_copy(AccessCache& shared, AccessCache& global, const Access& access,
                const CountedAddresses<std::uint32_t>& to,
                const CountedAddresses<std::uint64_t>& from, Mask written, Mask read);

}  // namespace warpgauge::emulator::machine::memory
