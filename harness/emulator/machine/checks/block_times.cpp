// The order of the warps of a block.
#include "harness/emulator/machine/checks/block_times.h"

#include <algorithm>

namespace warpgauge::emulator::machine::checks {

void BlockTimes::begin() {
  began_ = ++now_;
  floor_ = ++now_;
  warps_.fill({floor_, floor_, floor_, floor_});
}

void BlockTimes::released() {
  Time fenced = kNever;
  for (std::size_t n = 0; n < warp_count_; ++n) fenced = std::min(fenced, warps_[n].fenced);
  for (std::size_t n = 0; n < warp_count_; ++n) {
    warps_[n].floor = std::min(fenced, warps_[n].acquired);
  }
}

}  // namespace warpgauge::emulator::machine::checks
