// Theoretical occupancy: the warps of a kernel that fit on a multiprocessor, and the limit that
// stops more.
#pragma once

#include <cstdint>
#include <string>

#include "metrics/architecture/architectures.h"

namespace warpgauge::metrics {

/// The resources of a block.
struct BlockNeeds {
  int threads = 0;
  int registers_per_thread = 0;
  std::uint64_t shared_static_bytes = 0;
  std::uint64_t shared_dynamic_bytes = 0;
  int barriers = 0;        ///< as ptxas counts them; they limit from compute capability 9.0 on
  int cluster_blocks = 1;  ///< blocks of a cluster, which run together in one GPC
};

struct Occupancy {
  int blocks_per_multiprocessor = 0;
  int active_warps = 0;
  /// Active warps / maximum warps of a multiprocessor, 0..1. With clusters it is that of a whole
  /// chip, the best-known one of the architecture.
  double fraction = 0;
  /// "warps", "registers", "shared", "blocks", "barriers" or several of them, joined by "+" in this
  /// order; "clusters" where a multiprocessor has room for blocks, but not for whole clusters.
  std::string limiter;
  std::string doubt;  ///< why fraction and limiter are estimates; empty: they are exact
};

/// The occupancy of a multiprocessor by such blocks, with the largest carve-out of shared memory. A
/// block that cannot run at all gives a fraction of 0 with its limiter. Throws
/// std::invalid_argument for a block of no threads or a negative number of registers.
Occupancy occupancy(const Architecture& arch, const BlockNeeds& needs);

}  // namespace warpgauge::metrics
