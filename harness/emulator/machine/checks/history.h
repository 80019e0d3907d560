// The history of accesses to shared and global memory, in which races and reads of memory that
// nothing wrote are found.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "harness/emulator/machine/checks/block_times.h"
#include "harness/emulator/machine/checks/cluster_times.h"
#include "harness/emulator/machine/checks/launch_history.h"
#include "harness/emulator/machine/checks/product_waits.h"
#include "harness/emulator/machine/checks/proxy_fences.h"
#include "harness/emulator/machine/core/access.h"
#include "harness/emulator/machine/core/lane_addresses.h"
#include "harness/emulator/machine/core/scope.h"
#include "harness/emulator/machine/core/warp.h"

namespace warpgauge::emulator::machine::checks {

/// Who begins a copy, or a product of matrices in shared memory.
struct Maker {
  const Warp& warp;
  const Instruction& instruction;
  int lane;
};

/// The history of one block at a time. The code that executes instructions tells of accesses,
/// barriers, fences and copies; what is wrong goes to the findings of the launch.
class History {
 public:
  /// The properties that all its blocks have in common: `rank` is theirs in the cluster, `shared`
  /// their shared memory.
  struct BlockShape {
    ClusterTimes& cluster;
    std::uint32_t rank = 0;
    std::size_t warps = 0;
    std::span<const std::byte> shared;
  };
  History(LaunchHistory& launch, const BlockShape& shape);
  ~History();

  void begin_block(std::uint64_t number);
  std::uint64_t block() const { return block_; }
  BlockTimes& times() { return times_; }
  const ClusterTimes& cluster() const { return cluster_; }
  Findings& findings() { return launch_.findings; }
  void sync_lanes(std::uint32_t warp);
  /// The warp makes known what it has done.
  void release(std::uint32_t warp, Scope scope);
  /// Likewise, and it learns what its strong reads before have seen.
  void fence(std::uint32_t warp, Scope scope);
  /// A strong access releases or acquires, or sees what a fence behind it acquires.
  void order_by(const Warp& warp, const Instruction& instruction, const Access& access, Scope scope,
                std::uint32_t counter);
  /// The block learns what other blocks have made known.
  void learn_of(Scope scope);
  /// The warp executes griddepcontrol.
  void let_dependents_begin() { launch_.let_dependents_begin(); }
  void wait_for_dependencies(std::uint32_t warp);

  /// `pattern` is that of the lanes. `look_at_run` may be nullptr.
  void observe_shared(const Warp& warp, const Instruction& instruction, const Access& access,
                      const LaneAddresses<std::uint32_t>& lanes, Pattern pattern,
                      LookAtRun look_at_run);
  /// By cp.async, which is done when its thread waits for it: see copied().
  void observe_async(const Warp& warp, const Instruction& instruction, const Access& access,
                     const LaneAddresses<std::uint32_t>& lanes);
  void copied(std::uint32_t warp, int lane, std::uint64_t offset, std::uint64_t bytes);
  void observe_global(const Warp& warp, const Instruction& instruction, const Access& access,
                      const LaneAddresses<std::uint64_t>& lanes, Pattern pattern);
  /// Something that is not held against others, as it is ordered by other means, has written to
  /// shared memory.
  void note_written(std::uint64_t offset, std::uint64_t bytes);

  // Copies of the async proxy.
  using CopyNumber = std::uint64_t;
  /// Shared memory of the block from `offset` on.
  struct Bytes {
    std::uint32_t offset, count;
  };
  bool looks_at_copies() const { return launch_.checks.async; }
  bool looks_at_lanes() const { return launch_.checks.lanes; }
  void fence_proxy(std::uint32_t warp) {
    proxy_fences_.note(warp, times_.now());
    fence_mbarriers(warp);
  }
  void fence_mbarriers(std::uint32_t warp) { mbarrier_fences_.note(warp, times_.now()); }
  /// A thread of the block begins a copy that reads these bytes until has_read(). `in_group`: it
  /// waits for the copy by its group.
  CopyNumber begin_read(const Maker& maker, Bytes bytes, bool in_group);
  void has_read(CopyNumber copy);
  /// A thread of the cluster begins a copy that writes these bytes until has_written(). `reduces`:
  /// another one may do so at the same time.
  CopyNumber begin_write(const Maker& maker, Bytes bytes, bool reduces);
  /// The copy is done, and warp `knower` of the block knows it.
  void has_written(CopyNumber copy, std::uint32_t knower);
  ProductWaits& product_waits() { return product_waits_; }
  /// A warp of the block begins a product that reads these bytes until product_waits() says so.
  void multiply(const Maker& maker, std::span<const Bytes> bytes);
  /// Copies in groups of these lanes of a warp that are not done.
  std::vector<Act> reads_in_flight(std::uint32_t warp, Mask lanes) const;
  std::vector<Act> writes_in_flight() const;
  /// Uses of the block's memory by other blocks that it has not met since.
  std::vector<Act> unordered_uses() const { return cluster_.unordered_uses(rank_); }
  /// Whether a fence lies between mbarrier.init by warp `from` and what warp `to` does now.
  bool is_mbarrier_fenced(std::uint32_t from, BlockTimes::Time time, std::uint32_t to) const {
    return is_fenced(mbarrier_fences_, from, time, to);
  }

 private:
  /// A copy that is not done.
  struct Flight {
    CopyNumber number;
    std::uint64_t trace;
    Bytes bytes;
    Act act;
    bool writes, in_group;
  };
  struct CopyPlace {
    Act act;  ///< the last one there
    bool is_product;
  };
  std::uint64_t place_of_copy(const Act& act, bool is_product);
  std::uint64_t trace_of(const Maker& maker, const Act& act, bool is_product);
  Flight& take_off(const Maker& maker, Bytes bytes);
  Flight land(CopyNumber copy);
  template <typename Function>
  void for_words(Bytes bytes, Function function);
  void check_source(const Maker& maker, std::span<const Bytes> bytes, const char* reads);
  bool check_source_word(const Maker& maker, std::uint64_t offset, std::uint64_t write,
                         const char* reads);
  void check_destination(const Maker& maker, Bytes bytes, bool reduces);
  bool check_destination_word(const Maker& maker, std::uint64_t offset, std::uint64_t trace,
                              bool wrote, bool reduces);
  bool is_of_product(std::uint64_t trace) const;
  /// Whether a barrier or a fence of wgmma orders what warp `from` did before what `to` does now.
  bool orders(std::uint32_t from, BlockTimes::Time time, std::uint32_t to) const {
    return times_.orders(from, time, to) || product_waits_.have_met(from, time, to);
  }
  /// Whether one of the fences lies between.
  bool is_fenced(const ProxyFences& fences, std::uint32_t from, BlockTimes::Time time,
                 std::uint32_t to) const {
    return fences.between(from, time, to, times_, [this](auto... what) { return orders(what...); });
  }
  /// Whether what left the trace is ordered before what the warp does now.
  bool is_ordered(std::uint64_t trace, std::uint32_t warp) const;
  std::string act_text(std::uint64_t trace, const char* did) const;
  std::string place_text(std::uint64_t trace) const;
  /// Whether what the warp does now does not come behind the copy that left the trace.
  bool is_ahead_of_copy(std::uint32_t warp, std::uint64_t trace, bool wrote) const;
  void report_ahead_of_copy(const Warp& warp, const Instruction& instruction, const Access& access,
                            int lane, std::uint32_t address, std::uint64_t trace, bool wrote) const;

  struct SharedLook;
  struct GlobalLook;

  void look_at_shared(const Warp& warp, const Instruction& instruction, const Access& access,
                      const LaneAddresses<std::uint32_t>& lanes, Pattern pattern,
                      std::uint64_t in_flight, LookAtRun look_at_run);
  /// False if this block object has reported this pair of instructions before. `of_warp`: both of
  /// one warp, which is another rule.
  bool is_new(std::uint64_t first, std::uint64_t second, bool wrote, bool of_warp = false);
  bool was_found(std::uint64_t first, std::uint64_t second, bool wrote, bool of_warp) const {
    return found_.contains({first, second, wrote, of_warp});
  }
  /// Whether something other than a kernel is known to have written there.
  bool knows_written(std::uint64_t address, std::uint64_t bytes) const {
    for (const WatchedMemory::Range& range : written_) {
      if (address >= range.begin && address + bytes <= range.end) return true;
    }
    return false;
  }
  /// Something that a warp of another block of the launch did.
  struct Event {
    std::uint64_t block;
    std::uint32_t warp;
    std::uint64_t time;
  };
  /// Whether who knows of the fences of the grid and of the cluster up to these knows of it.
  bool is_known(const Event& event, std::uint64_t in_grid, std::uint64_t in_cluster) const {
    const bool of_cluster = cluster_.has(event.block);
    return launch_.orders(event.block, event.warp, event.time,
                          of_cluster ? Scope::cluster : Scope::grid,
                          of_cluster ? in_cluster : in_grid);
  }
  bool is_within(Scope scope, std::uint64_t block) const {
    return scope == Scope::grid || block == block_ ||
           (scope == Scope::cluster && cluster_.has(block));
  }
  /// The counter of the strong read behind which a fence would order it; or none.
  std::optional<std::uint32_t> unfenced_read(std::uint32_t warp, const Event& event) const;
  std::optional<std::uint32_t> unfenced_read_in_block(std::uint32_t warp, std::uint32_t maker,
                                                      BlockTimes::Time time) const {
    if (!times_.has_seen(maker, time, warp)) return std::nullopt;
    return seen_[warp].counter_in_block;
  }
  /// The last strong read is over: what was made known before that is learnt, or seen.
  void end_strong_read();
  /// Calls function(seen) for what the warp has seen, or others that it has met since.
  template <typename Function>
  void for_seen(std::uint32_t warp, Function function) const;
  /// Whether the launches that this one depends on have ended before what the warp does now. Of
  /// what other blocks have waited for it is not known who knows it.
  bool are_dependencies_over(std::uint32_t warp) const;
  /// A time as traces of global memory keep it, and the present one.
  std::uint64_t global_time(BlockTimes::Time time) const {
    return launch_.begin + (time - times_.began());
  }
  std::uint64_t global_time() const { return global_time(times_.now()); }

  LaunchHistory& launch_;
  ClusterTimes& cluster_;
  const std::uint32_t rank_;
  const std::byte* const memory_;  ///< shared
  std::set<std::tuple<std::uint64_t, std::uint64_t, bool, bool>> found_;
  BlockTimes times_;
  std::vector<WordTraces> shared_;
  bool any_in_flight_ = false;  ///< whether traces in shared_ may be of copies in flight
  // For copies of the async proxy.
  std::vector<CopyPlace> copy_places_;
  std::vector<Flight> flights_;  ///< in the order of their numbers
  CopyNumber last_copy_ = 0;
  ProxyFences proxy_fences_, mbarrier_fences_;
  ProductWaits product_waits_;
  // For global memory.
  std::uint64_t block_ = 0;
  /// All fences of the grid up to this one are known, and those of blocks of the cluster.
  std::uint64_t acquired_ = 0, acquired_in_cluster_ = 0;
  struct StrongRead {
    Scope scope = Scope::block;
    bool acquires = false;
    std::uint32_t warp = 0, counter = 0;
  };
  /// The last one, which may not be over: what it tells of other blocks is known later.
  StrongRead last_read_;
  /// What a read that is no acquire has seen: fences of the grid and of the cluster up to these.
  struct Seen {
    std::uint64_t in_grid = 0, in_cluster = 0;
    BlockTimes::Time time = 0;                        ///< of the read; 0: there was none
    std::uint32_t counter = 0, counter_in_block = 0;  ///< of the reads that saw it first

    void join(const Seen& more) {
      if (more.in_grid > in_grid || more.in_cluster > in_cluster) counter = more.counter;
      in_grid = std::max(in_grid, more.in_grid);
      in_cluster = std::max(in_cluster, more.in_cluster);
      counter_in_block = more.counter_in_block;
      time = std::max(time, more.time);
    }
  };
  std::array<Seen, BlockTimes::kMostWarps> seen_{};  ///< by warp
  Seen seen_by_all_;                                 ///< before a barrier of all
  bool has_seen_ = false;                            ///< any warp
  /// When each warp has last waited for the launches that this one depends on; 0: not yet.
  std::array<BlockTimes::Time, BlockTimes::kMostWarps> waited_{};
  std::array<WatchedMemory::Range, 4>
      written_{};  ///< where something else has written, lately found
  std::size_t next_written_ = 0;
};

}  // namespace warpgauge::emulator::machine::checks
