// The lanes that share a wavefront of an access to shared memory, as far as the counting rules
// define them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "metrics/counting/warp_access.h"

namespace warpgauge::metrics {

/// The lanes that each bank serves. They want one word, unless Wavefronts::lanes_known is false.
struct Wavefront {
  std::uint32_t group = 0;  ///< the lanes that are handled together: a warp, a half, a quarter
  std::array<std::uint32_t, 32> lanes{};
};

struct Wavefronts {
  /// The wavefronts, group by group. The words of a bank come in the order of the lanes that first
  /// want them. A word is named by its row of shared memory, so that a lane of 8 or 16 bytes is in
  /// one wavefront.
  std::vector<Wavefront> list;
  std::uint32_t executions = 1;  ///< the times that each wavefront is counted
  /// False where the rules give only the number of wavefronts (copies, loops of CAS). The entries
  /// of the list are then no wavefronts: each has a word of each bank that lanes want.
  bool lanes_known = true;
};

/// The wavefronts of an access to shared memory. Where `lanes_known`, shared_cost() counts
/// list.size() * executions.
Wavefronts wavefronts_of(const WarpAccess& access);

}  // namespace warpgauge::metrics
