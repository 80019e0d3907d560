// Theoretical occupancy: how many warps of a kernel fit on a multiprocessor, and what stops more.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace warpgauge::metrics {

/// Limits of one compute capability. Sizes in bytes.
struct ArchLimits {
  int major = 0, minor = 0;
  int max_threads_per_multiprocessor = 0;
  int max_blocks_per_multiprocessor = 0;
  int registers_per_multiprocessor = 0;
  int registers_per_block = 0;
  std::uint32_t shared_per_multiprocessor = 0;
  std::uint32_t shared_per_block = 0;           ///< without opt-in
  std::uint32_t shared_per_block_opt_in = 0;    ///< the most a block can have
  std::uint32_t shared_reserved_per_block = 0;  ///< taken by the system from each block
};

/// The table, by compute capability: 7.5 to 12.1.
std::span<const ArchLimits> arch_limits();
/// The row of "sm_90" (also sm_90a, sm_100f), or nullptr.
const ArchLimits* find_arch_limits(std::string_view arch);

/// What a block of a kernel needs.
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
Occupancy occupancy(const ArchLimits& limits, const BlockNeeds& needs);

}  // namespace warpgauge::metrics
