// The order of the warps of a block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace warpgauge::emulator::machine::checks {

/// Each warp has a clock: for each warp of the block the time up to which it knows what that one
/// did. An older access is ordered before what a warp does now if the warp knows its maker's time.
/// What a warp knows passes on to those that come through the same phase of a barrier of some
/// threads, and by fences and releases (mbarriers, atomics, flags) to all that acquire later: of
/// these it is not kept which one was seen, so what is found is true, and not all is found. A
/// barrier of all threads orders all that is older.
class BlockTimes {
 public:
  using Time = std::uint32_t;
  static constexpr int kMostWarps = 32;
  static constexpr int kBarriers = 16;
  static constexpr std::uint32_t kOfCluster = kBarriers;  ///< the number of the cluster's barrier

  explicit BlockTimes(std::size_t warps) : warp_count_(warps) {}

  void begin();  ///< a block
  bool is_running_out() const { return now_ > ~Time{0} / 2; }
  void restart() { now_ = 0; }
  Time began() const { return began_; }
  Time now() const { return now_; }
  /// Lanes of a warp arrive at the present phase of a barrier of a number of threads.
  void arrive(std::uint32_t warp, std::uint32_t barrier);
  /// Lanes of a warp come through it.
  void pass(std::uint32_t warp, std::uint32_t barrier);
  /// The next phase of it begins.
  void released(std::uint32_t barrier) { phases_[barrier] = {}; }
  /// A barrier of all threads that have not exited has let them go.
  void released_all() { floor_ = ++now_; }
  /// The barrier of the cluster has, and some have gone on behind their arrival: what they did
  /// there is not ordered.
  void released_cluster();
  /// The warp makes known what it has done and what it knows, by a fence or a release.
  void publish(std::uint32_t warp);
  /// The warp learns what was made known, by an acquire.
  void learn(std::uint32_t warp);
  /// The warp sees that it was, by a strong read that is no acquire: a fence behind it makes it
  /// one. False if an earlier read has seen the same.
  bool see(std::uint32_t warp);
  void learn_seen(std::uint32_t warp);
  /// The warp learns it, and that copies have landed, by an mbarrier.
  void wait_over(std::uint32_t warp) {
    ++now_;
    learn(warp);
  }
  /// Lanes of a warp have met in __syncwarp().
  void sync_lanes(std::uint32_t warp) { warps_[warp].synced = ++now_; }

  /// All that is older is ordered before what the warp does now.
  Time floor(std::uint32_t warp) const {
    return warps_[warp].floor > floor_ ? warps_[warp].floor : floor_;
  }
  /// Likewise, and also what other lanes of the warp did.
  Time floor_of_all() const { return floor_; }
  /// The warp knows what `maker` did before that.
  Time known(std::uint32_t warp, std::uint32_t maker) const {
    if (maker == warp) return now_;
    const Time known = warps_[warp].knows[maker], all = floor(warp);
    return known > all ? known : all;
  }
  std::uint32_t warp_count() const { return static_cast<std::uint32_t>(warp_count_); }
  /// When the warp last learnt of others.
  Time acquired(std::uint32_t warp) const { return warps_[warp].acquired; }
  /// Whether the warp has made known since, to whom it may be, what it did then.
  bool made_known(std::uint32_t warp, Time time) const {
    return time < floor_ || time < warps_[warp].told;
  }
  /// Whether a fence of the warp would order what another one did then before what it does next.
  bool has_seen(std::uint32_t maker, Time time, std::uint32_t warp) const {
    return (have_seen_ >> warp & 1) != 0 && time < seen_[warp][maker];
  }
  bool orders(std::uint32_t maker, Time time, std::uint32_t warp) const {
    if (time < floor_ || (maker == warp && time < warps_[warp].synced)) return true;
    return time < warps_[warp].knows[maker];
  }

 private:
  using Clock = std::array<Time, kMostWarps>;
  struct WarpTimes {
    Clock knows{};
    Time told = 0, acquired = 0, synced = 0;
    Time floor = 0;
  };
  /// Adds what `other` knows to a clock.
  void join(Clock& clock, const Clock& other) const;

  std::array<WarpTimes, kMostWarps> warps_;
  std::array<Clock, kBarriers + 1> phases_{};
  Clock published_{};
  std::array<Clock, kMostWarps> seen_;  ///< of warps that have
  std::uint32_t have_seen_ = 0;         ///< a bit for each warp: behind its last fence
  std::size_t warp_count_;
  Time now_ = 0, began_ = 0, floor_ = 0;
  std::uint32_t phases_begun_ = 0;  ///< a bit for each barrier
};

}  // namespace warpgauge::emulator::machine::checks
