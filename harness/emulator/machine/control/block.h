// A block of threads while it runs.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/emulator/machine/checks/findings.h"
#include "harness/emulator/machine/checks/history.h"
#include "harness/emulator/machine/control/bulk_groups.h"
#include "harness/emulator/machine/control/device_queue.h"
#include "harness/emulator/machine/control/device_text.h"
#include "harness/emulator/machine/control/engine.h"
#include "harness/emulator/machine/control/frames.h"
#include "harness/emulator/machine/control/mbarriers.h"
#include "harness/emulator/machine/control/tallies.h"
#include "harness/emulator/machine/core/code.h"
#include "harness/emulator/machine/core/cpu_time.h"
#include "harness/emulator/machine/core/launch.h"
#include "harness/emulator/machine/core/options.h"
#include "harness/emulator/machine/core/special_registers.h"
#include "harness/emulator/machine/core/warp.h"
#include "harness/emulator/machine/memory/context.h"
#include "harness/emulator/machine/memory/copied_tiles.h"

namespace warpgauge::emulator::machine::control {

/// Shared by all blocks of a launch.
struct LaunchContext {
  const KernelCode& code;
  const Launch& launch;
  const Options& options;
  memory::Memory& memory;
  SpecialInputs inputs;                            ///< except block and warp
  std::uint64_t stack_bytes = 0;                   ///< local memory of a lane
  AlignedBytes parameters;                         ///< vectors, as code.parameters says
  std::chrono::steady_clock::time_point deadline;  ///< where options.time_limit is not 0
  CpuClock::time_point cpu_deadline;               ///< where options.cpu_limit is not 0
  std::atomic<bool> stop = false;                  ///< a worker met a fault
  OrderedOutput& output;
  std::atomic<std::uint64_t>& heap_in_use;   ///< bytes that kernels have allocated
  DeviceQueue& queue;                        ///< launches by kernels
  checks::LaunchHistory* history = nullptr;  ///< nullptr: no check needs one
  checks::Findings findings{code, launch, memory};
};

/// Another worker met a fault: the launch is over.
struct LaunchStopped {};

/// A barrier of a block. Threads count one by one.
struct Barrier {
  std::uint32_t arrived = 0;
  std::uint32_t expected = 0;    ///< 0: all threads that have not exited
  std::uint32_t warps_seen = 0;  ///< whose absent lanes are among `arrived` (counted barriers)
  std::uint32_t votes = 0;       ///< bar.red: threads whose predicate holds
  std::uint32_t voters = 0;
};

struct WarpState {
  Warp warp;
  WarpEngine engine;
  memory::MemoryContext memory;
  FrameStore frames;
  BulkGroups bulk_groups;
  Pause pause = Pause::slice;
  // Where one thread runs the warps in turn.
  std::uint64_t first = 0;  ///< WarpCounts::executed when its block began
  bool tired = false;       ///< it has polled, and nothing else has happened since
  std::uint64_t executed() const { return engine.counts.executed - first; }
};

class Cluster;

struct Block {
  static constexpr int kBarriers = checks::BlockTimes::kBarriers;
  enum class Progress : std::uint8_t {
    finished,
    yields,  ///< all that could go on poll memory
    busy,    ///< some have run for long, and others should go on, too
    waits,   ///< no thread can go on: for other blocks, or for good
  };

  LaunchContext& launch;
  Cluster& cluster;
  const std::uint32_t rank;  ///< in the cluster
  std::array<std::uint32_t, 3> index{};
  std::uint64_t number = 0;  ///< linear
  std::array<Barrier, kBarriers> barriers;
  std::uint32_t barriers_in_use = 0;  ///< bit n: threads have arrived at barrier n
  std::uint32_t live_threads = 0;
  Mbarriers mbarriers;
  memory::CopiedTiles tiles;
  Act register_change;           ///< the last setmaxnreg
  std::uint64_t steps = 0;       ///< warp instructions of this block so far
  std::uint64_t next_check = 0;  ///< the step at which limits are checked
  AlignedBytes registers, shared, local, specials;
  std::vector<WarpState> warps;
  std::unique_ptr<checks::History> history;  ///< where the launch has one

  Block(Cluster& cluster, std::uint32_t rank, LaunchContext& launch, Tallies& tallies);
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  checks::BlockTimes* times() { return history == nullptr ? nullptr : &history->times(); }

  void start(std::uint64_t block_number);
  /// Runs until no thread can go on. Throws Fault.
  Progress advance();
  /// Runs a warp for as many instructions, unless it pauses. Throws Fault.
  void run_turn(WarpState& state, std::uint64_t steps);

 private:
  void prepare(WarpState& state, std::uint32_t number, Tallies& tallies);
  void start(WarpState& state);
  bool run_warp(WarpState& state, std::uint64_t slice);
  bool keeps_warps_apart() const {
    return launch.code.warps_depend || launch.launch.interleaving != nullptr;
  }
  void check_limits(const WarpState& state);
};

/// `bytes` rounded up to an odd number of cache lines: what lies so far apart and is used together
/// does not compete for the same sets of the host's cache.
std::uint64_t odd_cache_lines(std::uint64_t bytes);

}  // namespace warpgauge::emulator::machine::control
