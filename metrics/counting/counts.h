// Memory traffic and instructions of kernels per source line, in one structure for CUPTI and the
// emulator.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace warpgauge::metrics {

/// Sums over the warp instructions of a source line, a kernel or a case. A request is one warp
/// instruction; a wavefront is one pass of the shared memory's 32 banks; a sector is 32 bytes; a
/// tag is a look-up of a line of 128 bytes in L1. `ideal` is the least that the same lanes and
/// widths could need. A bulk copy is a copy by TMA between global and shared memory (cp.async.bulk,
/// or with a tensor map); the members `global_` leave bulk copies out. Copies between blocks of a
/// cluster are cluster requests.
struct Counts {
  std::uint64_t instructions = 0;
  std::uint64_t divergent_branches = 0;
  std::uint64_t shared_requests = 0;
  std::uint64_t shared_wavefronts = 0;
  std::uint64_t shared_wavefronts_ideal = 0;
  std::uint64_t global_load_requests = 0;
  std::uint64_t global_load_sectors = 0;
  std::uint64_t global_store_requests = 0;
  std::uint64_t global_store_sectors = 0;
  std::uint64_t global_atomic_requests = 0;
  std::uint64_t global_atomic_sectors = 0;
  std::uint64_t global_sectors_ideal = 0;
  std::uint64_t global_l1_tags = 0;
  std::uint64_t local_requests = 0;
  std::uint64_t local_sectors = 0;
  std::uint64_t bulk_load_instructions = 0;
  std::uint64_t bulk_load_bytes = 0;
  std::uint64_t bulk_store_instructions = 0;  ///< reductions, too
  std::uint64_t bulk_store_bytes = 0;
  std::uint64_t bulk_sectors = 0;
  std::uint64_t wgmma_instructions = 0;  ///< counted a warp: a warpgroup executes four
  std::uint64_t wgmma_wavefronts = 0;    ///< shared_wavefronts includes them
  std::uint64_t cluster_requests = 0;

  Counts& operator+=(const Counts& other);
  bool operator==(const Counts&) const = default;
};

/// Every member of Counts, with its name in files.
inline constexpr std::pair<const char*, std::uint64_t Counts::*> kCountMembers[] = {
    {"instructions", &Counts::instructions},
    {"divergent_branches", &Counts::divergent_branches},
    {"shared_requests", &Counts::shared_requests},
    {"shared_wavefronts", &Counts::shared_wavefronts},
    {"shared_wavefronts_ideal", &Counts::shared_wavefronts_ideal},
    {"global_load_requests", &Counts::global_load_requests},
    {"global_load_sectors", &Counts::global_load_sectors},
    {"global_store_requests", &Counts::global_store_requests},
    {"global_store_sectors", &Counts::global_store_sectors},
    {"global_atomic_requests", &Counts::global_atomic_requests},
    {"global_atomic_sectors", &Counts::global_atomic_sectors},
    {"global_sectors_ideal", &Counts::global_sectors_ideal},
    {"global_l1_tags", &Counts::global_l1_tags},
    {"local_requests", &Counts::local_requests},
    {"local_sectors", &Counts::local_sectors},
    {"bulk_load_instructions", &Counts::bulk_load_instructions},
    {"bulk_load_bytes", &Counts::bulk_load_bytes},
    {"bulk_store_instructions", &Counts::bulk_store_instructions},
    {"bulk_store_bytes", &Counts::bulk_store_bytes},
    {"bulk_sectors", &Counts::bulk_sectors},
    {"wgmma_instructions", &Counts::wgmma_instructions},
    {"wgmma_wavefronts", &Counts::wgmma_wavefronts},
    {"cluster_requests", &Counts::cluster_requests},
};

/// Metrics by their ids.
using MetricValues = std::vector<std::pair<std::string_view, double>>;

/// The metrics that `counts` answers, by their formulas. Ratios (`sectors_per_request`) are left
/// out where they divide by 0, and so are metrics of lines, see below.
MetricValues metric_values(const Counts& counts);

/// The metrics of lines alone (Metric::is_of_line), of the counts of one; 0 where they divide by 0.
MetricValues line_metric_values(const Counts& counts);

/// The bulk copies that a metric of global memory leaves out: loads, stores or both, as the metric
/// counts loads, stores or both. 0 for other metrics.
std::uint64_t copies_left_out(const Counts& counts, std::string_view metric);

}  // namespace warpgauge::metrics
