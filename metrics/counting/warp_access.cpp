// Compares accesses, and measures the distance between lanes.
#include "metrics/counting/warp_access.h"

#include <bit>
#include <cstddef>
#include <utility>

namespace warpgauge::metrics {

bool shows_more(const WarpAccess& a, const WarpAccess& b) {
  const auto rank = [](const WarpAccess& access) {
    return shown_rank(access.taken, access.ideal, access.mask);
  };
  if (rank(a) != rank(b)) return rank(a) > rank(b);
  return std::pair(a.block_number, a.warp) < std::pair(b.block_number, b.warp);
}

std::optional<std::int64_t> lane_distance(const WarpAccess& access) {
  const int first = std::countr_zero(access.mask);
  std::optional<std::int64_t> distance;
  for (std::uint32_t rest = access.mask & (access.mask - 1); rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const auto step = static_cast<std::int64_t>(access.addresses[static_cast<std::size_t>(lane)] -
                                                access.addresses[static_cast<std::size_t>(first)]);
    if (!distance) distance = step / (lane - first);
    if (*distance * (lane - first) != step) return std::nullopt;
  }
  return distance;
}

}  // namespace warpgauge::metrics
