// The cost of one execution of a memory instruction, by the rules of
// metrics/counting/counting_rules.h.
#pragma once

#include <array>
#include <cstdint>

#include "harness/emulator/machine/core/access_details.h"
#include "harness/emulator/machine/memory/access_cache.h"
#include "metrics/counting/counting_rules.h"
#include "metrics/counting/warp_access.h"

namespace warpgauge::emulator::machine::memory {

/// Puts what an access to global or local memory costs, and what it counts as, into its cache.
[[gnu::always_inline]] inline void put(AccessCache& cache, const Access& access,
                                       const metrics::GlobalCost& cost, Mask lanes) {
  using Space = AccessTotals::Space;
  const Space changing =
      access.effect == AccessEffect::write ? Space::global_store : Space::global_atomic;
  cache.totals.space = access.effect == AccessEffect::read ? Space::global_load : changing;
  cache.cost.sectors = cost.sectors;
  cache.cost.sectors_ideal = cost.ideal;
  cache.cost.tags = cost.tags;
  cache.cost.lane_groups = machine::lane_groups(lanes);
  cache.cost.exact = cost.exact;
  cache.cost.rank = metrics::shown_rank(cost.sectors, cost.ideal, lanes);
}
[[gnu::always_inline]] inline void put_local(AccessCache& cache, std::uint32_t sectors,
                                             Mask lanes) {
  cache.totals.space = AccessTotals::Space::local;
  cache.cost.sectors = sectors;
  cache.cost.lane_groups = machine::lane_groups(lanes);
}

template <typename Address>
using CountedAddresses = std::array<Address, kLanes>;  ///< multiples of Access::counted_width

/// The same of the others. Addresses of lanes that are not in `lanes` do not matter.
void count_shared(AccessCache& cache, const Access& access,
                  const CountedAddresses<std::uint32_t>& addresses, Mask lanes);
void count_copy(AccessCache& shared, AccessCache& global, const CopyDetail& copy,
                const CountedAddresses<std::uint32_t>& to,
                const CountedAddresses<std::uint64_t>& from, Mask written, Mask read);

}  // namespace warpgauge::emulator::machine::memory
