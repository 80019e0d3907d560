#include "metrics/warp_access.h"

#include <bit>
#include <tuple>
#include <utility>

namespace warpgauge::metrics {

bool shows_more(const WarpAccess& a, const WarpAccess& b) {
  const auto rank = [](const WarpAccess& access) {
    const auto beyond = std::int64_t{access.taken} - std::int64_t{access.ideal};
    return std::tuple(beyond, access.taken, std::popcount(access.mask));
  };
  if (rank(a) != rank(b)) return rank(a) > rank(b);
  return std::pair(a.block_number, a.warp) < std::pair(b.block_number, b.warp);
}

}  // namespace warpgauge::metrics
