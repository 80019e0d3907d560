// The blocks of a cluster while they run: one worker runs them in turn. A launch without clusters
// has clusters of one block.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/emulator/machine/control/block.h"
#include "harness/emulator/machine/core/fault.h"
#include "harness/emulator/machine/memory/cluster_memory.h"

namespace warpgauge::emulator::machine::control {

class Cluster {
 public:
  Cluster(LaunchContext& launch, Tallies& tallies);
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// `number` is linear in the grid of clusters.
  void start(std::uint64_t number);
  /// Runs until all blocks have ended, some have run for long, or all that could go on poll memory.
  /// Throws Fault.
  Block::Progress advance();
  /// For a thread that runs the warps in turn: one of the block, which may be any, has had its
  /// turn. True: all blocks have ended. Throws Fault if no thread can go on.
  bool after_turn(Block& block);
  void before_turn(const Block& block) { running_ = block.number; }
  Block* find(std::uint64_t number);  ///< nullptr: no block of this number

  Block& block(std::uint32_t rank) { return *blocks_[rank]; }
  const std::vector<std::unique_ptr<Block>>& blocks() const { return blocks_; }
  /// The number of the block that ran last.
  std::uint64_t running() const { return running_; }

  /// barrier.cluster.arrive, of lanes that run. `releases`: it makes known what they have done;
  /// `waits`: they wait at once.
  void arrive(Warp& warp, bool releases, bool waits);
  /// barrier.cluster.wait, of the active lanes: those that must wait are set aside.
  void wait(Warp& warp, const Instruction& instruction);
  void lanes_exited(WarpEngine& engine, Mask lanes);
  /// A hash of all that its threads have and where they are: the same as long as they go round
  /// loops in which nothing changes.
  std::uint64_t fingerprint() const;
  /// No thread of the launch makes progress; `why` ends the sentence, or is empty. Throws Fault.
  [[noreturn]] void report_spinning(const std::string& why) const;
  /// All threads of the launch have waited for `limit`, and nothing changed. Throws Fault.
  [[noreturn]] void report_long_wait(std::chrono::milliseconds limit) const;
  /// Something has happened that others may have waited for.
  void note_event() { fruitless_ = 0; }

  memory::ClusterMemory memory;

 private:
  std::uint32_t live_threads() const;
  void finish(Block& block);
  void complete_barrier();
  bool time_out();
  [[noreturn]] void report_deadlock() const;
  [[noreturn]] void fail_stuck(Fault::Kind kind, std::string text, bool with_running,
                               const std::string& why) const;

  LaunchContext& launch_;
  std::vector<std::unique_ptr<Block>> blocks_;  ///< by rank
  std::vector<bool> finished_;                  ///< by rank
  std::uint64_t running_ = 0;
  std::uint32_t arrived_ = 0;  ///< threads, at the barrier of the cluster
  bool any_goes_on_ = false;   ///< one of them does not wait at once
  int fruitless_ = 0;          ///< times in a row that waits were given up and nothing came of it
};

/// The size of the clusters of a launch, in blocks.
std::array<std::uint32_t, 3> cluster_size(const Launch& launch);

}  // namespace warpgauge::emulator::machine::control
