// The part of the history of accesses that the blocks of a launch share: the order of blocks by
// fences.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "harness/emulator/machine/checks/findings.h"
#include "harness/emulator/machine/checks/global_traces.h"
#include "harness/emulator/machine/checks/watched_memory.h"
#include "harness/emulator/machine/core/checks.h"
#include "harness/emulator/machine/core/scope.h"

namespace warpgauge::emulator::machine::checks {

/// Each block has a time of its own, which goes on from `begin`; fences have numbers of the launch.
class LaunchHistory {
 public:
  LaunchHistory(const Checks& checks, WatchedMemory& memory, Findings& findings,
                std::uint64_t blocks, std::vector<bool> settled_reads = {});
  ~LaunchHistory();

  const Checks checks;
  const WatchedMemory& memory;
  Findings& findings;
  GlobalTraces& traces;
  const std::uint64_t begin;  ///< time at which each block begins

  /// Whether nothing that this launch writes is read there; by counter.
  bool is_settled_read(std::uint32_t counter) const {
    return counter < settled_reads_.size() && settled_reads_[counter];
  }

  // Earlier launches that may run at the same time.

  bool is_concurrent() const { return !concurrent_.empty(); }
  /// Traces below this time are of launches that are ordered before this one.
  std::uint64_t floor() const {
    return is_concurrent() ? concurrent_.front().launch->begin : begin;
  }
  struct Concurrent {
    const EarlierLaunch* launch;
    bool until_wait;
  };
  /// The concurrent launch that left traces at this time; nullptr: it was none of them.
  const Concurrent* concurrent_at(std::uint64_t time) const;
  /// A thread lets launches begin that depend on this one.
  void let_dependents_begin() { lets_dependents_begin_ = true; }
  /// A thread has waited for the launches that this one depends on.
  void note_waited() { waited_ = true; }
  bool has_waited() const { return waited_; }

  /// False where the grid has more blocks than traces can name.
  bool tells_blocks() const { return of_grid_ != nullptr; }
  bool tells_clusters() const { return of_cluster_ != nullptr; }
  /// Whether fences and releases of this scope order blocks.
  bool tells(Scope scope) const {
    return scope == Scope::grid ? tells_blocks() : scope == Scope::cluster && tells_clusters();
  }
  /// A warp makes known to others what each warp of its block did before these times.
  void fence(std::uint64_t block, std::span<const std::uint64_t> times, Scope scope);
  /// The number of the latest fence: who reads a flag behind it knows what it made known.
  std::uint64_t fenced() const { return fences_made_.load(std::memory_order_relaxed); }
  /// Whether what a warp of `block` did at `time` is known to who knows of all fences up to
  /// `acquired`; `scope`: those of the grid, or of its cluster as well. Only the last two fences of
  /// a warp are kept: of what is older it is true if any is known.
  bool orders(std::uint64_t block, std::uint32_t warp, std::uint64_t time, Scope scope,
              std::uint64_t acquired) const;
  /// Whether strong accesses to global memory may have a scope below .gpu: two of them may race.
  bool has_narrow_scope() const { return has_narrow_scope_; }
  /// A block has come that far.
  void reached(std::uint64_t time);

 private:
  /// Numbers of fences, and the times of their blocks, in one word.
  struct Fences {
    std::atomic<std::uint64_t> last = 0, before = 0;
    void note(std::uint64_t time, std::uint64_t number);
    bool order(std::uint64_t time, std::uint64_t acquired) const;
  };
  /// Those that all warps of the block are ordered by, and by warp, where there are any, those that
  /// one is ordered by.
  class FencesOfBlock {
   public:
    ~FencesOfBlock() { delete[] by_warp_.load(); }
    void note(std::span<const std::uint64_t> times, bool by_warp, std::uint64_t number);
    bool order(std::uint32_t warp, std::uint64_t time, std::uint64_t acquired) const;

   private:
    Fences all_;
    std::atomic<Fences*> by_warp_ = nullptr;
  };
  /// In larger grids a fence is taken to tell of all that its block did.
  static constexpr std::uint64_t kMostBlocksByWarp = 65'536;
  /// By block; of those of the cluster where there are clusters, and those of the grid are of both.
  std::unique_ptr<FencesOfBlock[]> of_grid_, of_cluster_;
  bool by_warp_;
  std::atomic<std::uint64_t> fences_made_ = 0;
  const std::vector<bool> settled_reads_;
  std::vector<Concurrent> concurrent_;  ///< the first to begin first
  std::atomic<bool> lets_dependents_begin_ = false, waited_ = false;
  bool has_narrow_scope_;
};

}  // namespace warpgauge::emulator::machine::checks
