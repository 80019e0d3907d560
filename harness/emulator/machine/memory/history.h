// The history of accesses to shared and global memory, in which races and reads of memory that
// nothing wrote are found.
//
// Three times decide whether two accesses are ordered. Each accessor (a warp in shared memory, a
// block in global memory) has two: `fenced`, when it last made its accesses known, at a barrier or
// a fence; and `acquired`, when it last learnt of others', at a barrier or a strong access. The
// third is that of the older access: it is ordered before what A does now if it is older than its
// own accessor's `fenced` and than A's `acquired`. A barrier or a lock between others may pass for
// one that these two share: what is found is true, and not all is found.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "harness/emulator/machine/checks.h"
#include "harness/emulator/machine/memory/access.h"
#include "harness/emulator/machine/memory/global_traces.h"
#include "harness/emulator/machine/memory/lane_addresses.h"
#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/machine/warp.h"

namespace warpgauge::emulator::machine::memory {

/// What the blocks of a launch share of it.
class LaunchHistory {
 public:
  LaunchHistory(const Checks& checks, Memory& memory, std::uint64_t blocks);

  const Checks checks;
  GlobalTraces& traces;
  const std::uint64_t begin;  ///< the launch's time

  /// False where the grid has more blocks than traces can name, or fences have used up the times.
  bool orders_blocks() const { return fenced_ != nullptr && traces.now < GlobalTrace::kMostTime; }
  void fence(std::uint64_t block) {
    if (orders_blocks()) fenced_[block].store(++traces.now, std::memory_order_relaxed);
  }
  std::uint64_t fenced(std::uint64_t block) const {
    return fenced_[block].load(std::memory_order_relaxed);
  }

 private:
  std::unique_ptr<std::atomic<std::uint64_t>[]> fenced_;
};

/// That of one block.
class History {
 public:
  static constexpr int kMostWarps = 32;

  History(LaunchHistory& launch, std::size_t warps, std::uint64_t shared_bytes);

  void begin_block(std::uint64_t number);
  /// Lanes of a warp arrive at a barrier of the block, or exit.
  void arrive(std::uint32_t warp) { warps_[warp].fenced = ++now_; }
  void exit(std::uint32_t warp) { warps_[warp].fenced = kNever; }
  /// Lanes of a warp have come through a barrier of the block.
  void pass(std::uint32_t warp) { warps_[warp].acquired = ++now_; }
  /// A barrier has let its warps go; `all`: all that have not exited.
  void released(bool all);
  /// Lanes of a warp have met, in __syncwarp() or another instruction that names them.
  void sync_lanes(std::uint32_t warp) { warps_[warp].synced = ++now_; }
  void fence(std::uint32_t warp, bool of_grid);

  void observe_shared(const Warp& warp, const Instruction& instruction, const Access& access,
                      const LaneAddresses<std::uint32_t>& lanes);
  void observe_global(const Warp& warp, const Instruction& instruction, const Access& access,
                      const LaneAddresses<std::uint64_t>& lanes);

 private:
  static constexpr std::uint32_t kNever = ~std::uint32_t{0};
  struct WarpTimes {
    std::uint32_t fenced = 0, acquired = 0, synced = 0;
    std::uint32_t floor = 0;  ///< all accesses of other warps before it are ordered
  };

  /// False if this block object has reported this pair of instructions before.
  template <typename Layout>
  bool is_new(std::uint64_t trace, std::uint64_t own, bool wrote);
  bool orders_shared(std::uint32_t warp, std::uint64_t trace) const;
  bool orders_global(std::uint64_t trace) const;

  LaunchHistory& launch_;
  std::set<std::tuple<std::uint64_t, std::uint64_t, bool, bool>> found_;
  // Of shared memory.
  std::vector<WordTraces> shared_;
  std::array<WarpTimes, kMostWarps> warps_;
  std::size_t warp_count_;
  std::uint32_t now_ = 0, begin_ = 0;
  // Of global memory.
  std::uint64_t block_ = 0, acquired_ = 0;
  Memory::Range written_;  ///< where something else has written, lately found
};

}  // namespace warpgauge::emulator::machine::memory
