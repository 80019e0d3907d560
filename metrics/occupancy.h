// Theoretical occupancy: the warps of a kernel that fit on a multiprocessor, and the limit that
// stops more.
#pragma once

#include <cstdint>
#include <string>

#include "metrics/architectures.h"

namespace warpgauge::metrics {

/// The resources of a block.
struct BlockNeeds {
  int threads = 0;
  int registers_per_thread = 0;
  std::uint64_t shared_static_bytes = 0;
  std::uint64_t shared_dynamic_bytes = 0;
  int barriers = 0;  ///< as ptxas counts them; they limit from compute capability 9.0 on
};

struct Occupancy {
  int blocks_per_multiprocessor = 0;
  int active_warps = 0;
  double fraction = 0;  ///< active warps / most warps of the multiprocessor, 0..1
  /// "warps", "registers", "shared", "blocks", "barriers" or several of them, joined by "+" in this
  /// order.
  std::string limiter;
};

/// Occupancy of such blocks on such a multiprocessor, with as much shared memory as it can have
/// (the most carve-out); a fraction of 0 with its limiter where the block cannot run at all.
/// Throws std::invalid_argument for a block of no threads or a negative number of registers.
Occupancy occupancy(const Architecture& arch, const BlockNeeds& needs);

}  // namespace warpgauge::metrics
