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
  int cluster_blocks = 1;  ///< that run together, in one GPC
};

struct Occupancy {
  int blocks_per_multiprocessor = 0;
  int active_warps = 0;
  /// Active warps / most warps of the multiprocessor, 0..1; with clusters those of the whole chip,
  /// the best-known one of the architecture.
  double fraction = 0;
  /// "warps", "registers", "shared", "blocks", "barriers" or several of them, joined by "+" in this
  /// order; "clusters" where a multiprocessor had room for blocks that belong to no whole cluster.
  std::string limiter;
  std::string doubt;  ///< why fraction and limiter are estimates; empty: they are exact
};

/// Occupancy of such blocks on such a multiprocessor, with as much shared memory as it can have
/// (the most carve-out); a fraction of 0 with its limiter where the block cannot run at all.
/// Throws std::invalid_argument for a block of no threads or a negative number of registers.
Occupancy occupancy(const Architecture& arch, const BlockNeeds& needs);

}  // namespace warpgauge::metrics
