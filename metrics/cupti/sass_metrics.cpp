// Sorts the values of an instruction into Counts by its kind.
#include "metrics/cupti/sass_metrics.h"

#include <algorithm>
#include <iterator>

namespace warpgauge::metrics {

using enum SassMetric;

bool is_optional(std::string_view cupti_name) {
  constexpr SassMetric kOptional[] = {async_copies,    bulk_loads,       bulk_stores,
                                      bulk_reductions, cluster_accesses, wgmmas};
  return std::ranges::find(kOptional, cupti_name, &name) != std::end(kOptional);
}

std::optional<Counts> counts_of(const SassValues& values) {
  Counts counts;
  counts.instructions = values[instructions];
  counts.divergent_branches = values[divergent_branches];
  // A cp.async loads from global memory and writes shared memory. CUPTI lists it apart from loads
  // and shared accesses. If a chip lists it there as well, the maximum counts it once.
  counts.shared_requests = std::max(values[shared_requests], values[async_copies]);
  counts.shared_wavefronts = values[shared_wavefronts];
  counts.shared_wavefronts_ideal = values[shared_wavefronts_ideal];
  counts.global_load_requests = std::max(values[global_loads], values[async_copies]);
  counts.global_store_requests = values[global_stores];
  counts.global_atomic_requests = values[global_atomics] + values[global_reductions];
  counts.global_sectors_ideal = values[global_sectors_ideal];
  counts.global_l1_tags = values[global_l1_tags];
  counts.local_requests = values[local_requests];
  counts.local_sectors = values[local_sectors];
  counts.bulk_load_instructions = values[bulk_loads];
  counts.bulk_store_instructions = values[bulk_stores] + values[bulk_reductions];
  counts.cluster_requests = values[cluster_accesses];
  counts.wgmma_instructions = values[wgmmas];
  if (values[wgmmas] > 0) counts.wgmma_wavefronts = values[shared_wavefronts];

  const std::uint64_t sectors = values[global_sectors];
  if (sectors == 0) return counts;
  if (counts.global_atomic_requests > 0) {
    counts.global_atomic_sectors = sectors;
  } else if (counts.global_store_requests > 0) {
    counts.global_store_sectors = sectors;
  } else if (counts.global_load_requests > 0) {
    counts.global_load_sectors = sectors;
  } else {
    return std::nullopt;
  }
  return counts;
}

}  // namespace warpgauge::metrics
