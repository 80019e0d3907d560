// When the warps of a block have executed proxy fences.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "harness/emulator/machine/checks/block_times.h"

namespace warpgauge::emulator::machine::checks {

/// A proxy fence lies on a way from a write to a copy if its thread is the one that writes, the one
/// that copies, or one between them: the memory model of the PTX ISA asks for no certain one.
class ProxyFences {
 public:
  using Time = BlockTimes::Time;

  void begin() { warps_ = {}; }  ///< a block
  void note(std::uint32_t warp, Time time) {
    Warp& known = warps_[warp];
    known.times[known.count++ % kKept] = time;
  }
  /// Whether one lies on a way from what warp `from` did at `time` to what warp `to` does now. Of
  /// fences that are no longer known it is taken to be true.
  template <typename Orders>
  bool between(std::uint32_t from, Time time, std::uint32_t to, const BlockTimes& times,
               Orders orders) const {
    for (std::uint32_t warp = 0; warp < BlockTimes::kMostWarps; ++warp) {
      const Warp& known = warps_[warp];
      if (known.count == 0) continue;
      const bool comes_behind = warp == from || warp == to || times.made_known(from, time);
      if (!comes_behind) continue;
      if (known.count > kKept && known.times[known.count % kKept] > time) return true;
      for (std::size_t n = 0; n < kKept && n < known.count; ++n) {
        const Time fence = known.times[n];
        if (fence > time && (warp == to || orders(warp, fence, to))) return true;
      }
    }
    return false;
  }

 private:
  static constexpr std::size_t kKept = 8;
  struct Warp {
    std::array<Time, kKept> times{};
    std::size_t count = 0;
  };
  std::array<Warp, BlockTimes::kMostWarps> warps_{};
};

}  // namespace warpgauge::emulator::machine::checks
