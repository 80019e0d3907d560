// From the SASS metrics of one instruction to Counts.
#include "metrics/sass_metrics.h"

#include <algorithm>
#include <stdexcept>

namespace warpgauge::metrics {
namespace {

using enum SassMetric;

constexpr std::size_t kGlobalMetrics = 7;

}  // namespace

bool is_optional(std::string_view cupti_name) { return cupti_name == name(async_copies); }

std::optional<Counts> counts_of(const SassValues& values) {
  Counts counts;
  counts.instructions = values[instructions];
  counts.divergent_branches = values[divergent_branches];
  // A cp.async both loads from global memory and writes shared memory. CUPTI lists it apart from
  // loads and shared accesses; should a chip list it there too, the maximum counts it once.
  counts.shared_requests = std::max(values[shared_requests], values[async_copies]);
  counts.shared_wavefronts = values[shared_wavefronts];
  counts.shared_wavefronts_ideal = values[shared_wavefronts_ideal];
  counts.global_load_requests = std::max(values[global_loads], values[async_copies]);
  counts.global_store_requests = values[global_stores];
  counts.global_atomic_requests = values[global_atomics] + values[global_reductions];
  counts.global_sectors_ideal = values[global_sectors_ideal];
  counts.local_requests = values[local_requests];
  counts.local_sectors = values[local_sectors];

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

std::vector<std::vector<SassMetric>> sass_groups(std::size_t limit) {
  if (limit < kGlobalMetrics + 1) {
    throw std::invalid_argument("a group of SASS metrics needs room for " +
                                std::to_string(kGlobalMetrics + 1));
  }
  const std::size_t total = kSassMetrics.size() - 1;  // without `instructions`, the last
  const std::size_t count = (total + limit - 2) / (limit - 1);
  const std::size_t size = std::max(kGlobalMetrics, (total + count - 1) / count);
  std::vector<std::vector<SassMetric>> groups(count);
  for (std::size_t i = 0; i < total; ++i) groups[i / size].push_back(static_cast<SassMetric>(i));
  return groups;
}

}  // namespace warpgauge::metrics
