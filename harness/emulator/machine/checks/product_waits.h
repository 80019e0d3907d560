// The order that wgmma makes between the warps of a warpgroup, by products and by waits for groups.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "harness/emulator/machine/checks/block_times.h"

namespace warpgauge::emulator::machine::checks {

/// At a product all four have come so far. When a warp has waited for a group, what any of the four
/// did before it closed that group is done, products and the accesses that have loaded their
/// operands, and the warp may say so.
class ProductWaits {
 public:
  using Time = BlockTimes::Time;
  static constexpr std::uint32_t kWarps = 4;

  void begin() { *this = {}; }  ///< a block
  void note_arrival(std::uint32_t warp, Time now) {
    arrived_[warp] = now;
    end_ = std::max(end_, warp + 1);
  }
  /// All warps of this one's warpgroup have come to a product.
  void note_meeting(std::uint32_t warp) {
    const auto first = warp / kWarps * kWarps;
    std::copy_n(arrived_.begin() + first, kWarps, met_.begin() + first);
  }
  /// Whether both are of a warpgroup that has met since.
  bool have_met(std::uint32_t from, Time time, std::uint32_t to) const {
    return from / kWarps == to / kWarps && time < met_[from];
  }
  /// Warps from `first` on have closed a group then, and one of them has waited for it now.
  void note_group(std::uint32_t first, const std::array<Time, kWarps>& closed, Time now) {
    Groups& known = warpgroups_[first / kWarps];
    known.groups[known.count++ % kKept] = {closed, now};
  }
  void note_wait(std::uint32_t warp, Time now) { waited_[warp] = now; }
  /// Whether any warp has waited for what warp `from` did at `time`.
  bool is_done(std::uint32_t from, Time time) const {
    const Groups& known = warpgroups_[from / kWarps];
    return known.count != 0 && time < known.groups[(known.count - 1) % kKept].closed[from % kWarps];
  }
  /// Whether what warp `from` did at `time` is known in this way to what warp `to` does now. Of
  /// groups that are no longer kept it is taken to be true.
  bool between(std::uint32_t from, Time time, std::uint32_t to, const BlockTimes& times) const {
    const std::uint32_t first = from / kWarps * kWarps;
    const Groups& known = warpgroups_[first / kWarps];
    for (std::size_t n = known.count - std::min(known.count, kKept); n < known.count; ++n) {
      const Group& group = known.groups[n % kKept];
      if (time >= group.closed[from % kWarps]) continue;
      return (n != 0 && n + kKept == known.count) || is_told(first, group, to, times);
    }
    return false;
  }
  /// A time before all products of the block of which warp `to` does not know that they are done;
  /// `none` if there are no such products.
  Time before_products_under_way(std::uint32_t to, const BlockTimes& times, Time none) {
    Time before = none;
    for (std::uint32_t first = 0; first < end_; first += kWarps) {
      const Groups& known = warpgroups_[first / kWarps];
      std::uint32_t& told = told_[to][first / kWarps];
      if (told + kKept <= known.count) told = static_cast<std::uint32_t>(known.count - kKept + 1);
      while (told < known.count && is_told(first, known.groups[told % kKept], to, times)) ++told;
      for (std::uint32_t warp = first; warp < std::min(first + kWarps, end_); ++warp) {
        const Time done =
            told == 0 ? times.began() : known.groups[(told - 1) % kKept].closed[warp % kWarps];
        if (arrived_[warp] >= done) before = std::min(before, done);
      }
    }
    return before;
  }

 private:
  static constexpr std::size_t kKept = 16;
  struct Group {
    std::array<Time, kWarps> closed{};
    Time waited = 0;  ///< by the first one
  };
  struct Groups {
    std::array<Group, kKept> groups{};
    std::size_t count = 0;
  };
  /// Whether a warp that has waited for the group of a warpgroup tells warp `to` of it.
  bool is_told(std::uint32_t first, const Group& group, std::uint32_t to,
               const BlockTimes& times) const {
    for (std::uint32_t warp = first; warp < first + kWarps; ++warp) {
      const bool tells = warp == to || times.orders(warp, group.waited, to);
      if (waited_[warp] >= group.waited && tells) return true;
    }
    return false;
  }

  static constexpr std::size_t kWarpgroups = BlockTimes::kMostWarps / kWarps;
  std::array<Groups, kWarpgroups> warpgroups_{};
  std::array<Time, BlockTimes::kMostWarps> waited_{}, arrived_{}, met_{};
  std::uint32_t end_ = 0;  ///< behind the last warp that has come to a product
  /// The groups of each warpgroup, from the first one on, of which a warp knows.
  std::array<std::array<std::uint32_t, kWarpgroups>, BlockTimes::kMostWarps> told_{};
};

}  // namespace warpgauge::emulator::machine::checks
