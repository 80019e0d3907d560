// The order of the warps of a block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace warpgauge::emulator::machine::checks {

/// Three times decide whether two accesses of warps are ordered. Each warp has two: `fenced`, when
/// it last made its accesses known, at a barrier or a fence; and `acquired`, when it last learnt of
/// others', at a barrier or a strong access. The third is that of the older access: it is ordered
/// before what warp W does now if it is older than its own warp's `fenced` and than W's `acquired`.
/// A barrier of all threads orders all that is older. A barrier or a lock between others may pass
/// for one that these two share: what is found is true, and not all is found.
class BlockTimes {
 public:
  using Time = std::uint32_t;
  static constexpr int kMostWarps = 32;

  explicit BlockTimes(std::size_t warps) : warp_count_(warps) {}

  void begin();  ///< a block
  bool is_running_out() const { return now_ > kNever / 2; }
  void restart() { now_ = 0; }
  Time began() const { return began_; }
  Time now() const { return now_; }
  /// Lanes of a warp arrive at a barrier of a number of threads, or all of it has exited.
  void arrive(std::uint32_t warp) { fence(warp); }
  void exit(std::uint32_t warp) { warps_[warp].fenced = kNever; }
  /// Lanes of a warp have come through a barrier of a number of threads.
  void pass(std::uint32_t warp) { warps_[warp].acquired = ++now_; }
  /// Such a barrier has let its warps go.
  void released();
  /// A barrier of all threads that have not exited has.
  void released_all() { floor_ = ++now_; }
  void fence(std::uint32_t warp) { warps_[warp].fenced = ++now_; }
  void acquire(std::uint32_t warp) { warps_[warp].acquired = now_; }
  /// Lanes of a warp have met, in __syncwarp() or another instruction that names them.
  void sync_lanes(std::uint32_t warp) { warps_[warp].synced = ++now_; }

  /// All that is older is ordered before what the warp does now.
  Time floor(std::uint32_t warp) const {
    return warps_[warp].floor > floor_ ? warps_[warp].floor : floor_;
  }
  /// When the warp last learnt of others.
  Time acquired(std::uint32_t warp) const { return warps_[warp].acquired; }
  /// Whether the warp has made known since what it did then.
  bool made_known(std::uint32_t warp, Time time) const {
    return time < floor_ || time < warps_[warp].fenced;
  }
  bool orders(std::uint32_t maker, Time time, std::uint32_t warp) const {
    if (time < floor_ || (maker == warp && time < warps_[warp].synced)) return true;
    return time < warps_[maker].fenced && time < warps_[warp].acquired;
  }

 private:
  static constexpr Time kNever = ~Time{0};
  struct WarpTimes {
    Time fenced = 0, acquired = 0, synced = 0;
    Time floor = 0;
  };
  std::array<WarpTimes, kMostWarps> warps_;
  std::size_t warp_count_;
  Time now_ = 0, began_ = 0, floor_ = 0;
};

}  // namespace warpgauge::emulator::machine::checks
