// Which lanes share a wavefront of an access to shared memory, as far as the counting rules say it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "metrics/counting/warp_access.h"

namespace warpgauge::metrics {

/// The lanes that each bank serves, with one word unless Wavefronts::lanes_known is false.
struct Wavefront {
  std::uint32_t group = 0;  ///< lanes that are looked at together: a warp, a half, a quarter
  std::array<std::uint32_t, 32> lanes{};
};

struct Wavefronts {
  /// Group by group. Of a bank the words come in the order of the lanes that first want them; words
  /// are the rows of shared memory, so a lane of 8 or 16 bytes is in one wavefront.
  std::vector<Wavefront> list;
  std::uint32_t executions = 1;  ///< how often each is counted
  /// False where the rules give only the number of wavefronts (copies, loops of CAS): then each
  /// entry of the list has one word of each bank that lanes want, and is no wavefront.
  bool lanes_known = true;
};

/// The wavefronts of an access to shared memory. Where `lanes_known`, shared_cost() counts
/// list.size() * executions.
Wavefronts wavefronts_of(const WarpAccess& access);

}  // namespace warpgauge::metrics
