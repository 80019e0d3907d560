// The order of the warps of a block.
#include "harness/emulator/machine/checks/block_times.h"

#include <algorithm>
#include <bit>

namespace warpgauge::emulator::machine::checks {

void BlockTimes::begin() {
  began_ = ++now_;
  floor_ = ++now_;
  std::fill_n(warps_.begin(), warp_count_, WarpTimes{{}, floor_, floor_, floor_, floor_});
  for (; phases_begun_ != 0; phases_begun_ &= phases_begun_ - 1) {
    phases_[std::countr_zero(phases_begun_)] = {};
  }
  published_ = {};
  have_seen_ = 0;
}

void BlockTimes::join(Clock& clock, const Clock& other) const {
  for (std::size_t n = 0; n < warp_count_; ++n) clock[n] = std::max(clock[n], other[n]);
}

void BlockTimes::arrive(std::uint32_t warp, std::uint32_t barrier) {
  phases_begun_ |= 1U << barrier;
  join(phases_[barrier], warps_[warp].knows);
  phases_[barrier][warp] = warps_[warp].told = ++now_;
}

void BlockTimes::pass(std::uint32_t warp, std::uint32_t barrier) {
  WarpTimes& own = warps_[warp];
  join(own.knows, phases_[barrier]);
  own.acquired = ++now_;
  Time floor = now_;
  for (std::size_t n = 0; n < warp_count_; ++n) {
    if (n != warp) floor = std::min(floor, own.knows[n]);
  }
  own.floor = std::max(own.floor, floor);
}

void BlockTimes::released_cluster() {
  for (std::uint32_t warp = 0; warp < warp_count_; ++warp) pass(warp, kOfCluster);
  released(kOfCluster);
}

void BlockTimes::publish(std::uint32_t warp) {
  join(published_, warps_[warp].knows);
  published_[warp] = warps_[warp].told = ++now_;
}

void BlockTimes::learn(std::uint32_t warp) {
  join(warps_[warp].knows, published_);
  warps_[warp].acquired = now_;
}

bool BlockTimes::see(std::uint32_t warp) {
  const std::uint32_t bit = 1U << warp;
  const bool is_new = (have_seen_ & bit) == 0 || seen_[warp] != published_;
  if (is_new) seen_[warp] = published_;
  have_seen_ |= bit;
  WarpTimes& own = warps_[warp];
  own.knows[warp] = std::max(own.knows[warp], published_[warp]);  // of its lanes
  own.acquired = now_;
  return is_new;
}

void BlockTimes::learn_seen(std::uint32_t warp) {
  if ((have_seen_ >> warp & 1) == 0) return;
  have_seen_ &= ~(1U << warp);
  join(warps_[warp].knows, seen_[warp]);
}

}  // namespace warpgauge::emulator::machine::checks
