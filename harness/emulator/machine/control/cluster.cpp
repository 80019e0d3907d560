// Clusters: their blocks in turn, their barrier.
#include "harness/emulator/machine/control/cluster.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <utility>

#include "harness/emulator/machine/checks/async_checks.h"
#include "harness/emulator/machine/control/engine.h"

namespace warpgauge::emulator::machine::control {
namespace {

using State = Fragment::State;
using Size = std::array<std::uint32_t, 3>;

// A wait with a time limit passes for endless when it was given up this many times in a row: a
// program may do something else after some of them.
constexpr int kMostFruitless = 256;

/// Warps may give and take registers in any order: what is known at the end is whether all have
/// what they asked for last.
void check_registers(Block& block) {
  constexpr std::uint32_t kUnit = 8;  // registers of a thread are given so many at a time
  const std::uint32_t at_launch = (block.launch.launch.registers + kUnit - 1) / kUnit * kUnit;
  if (at_launch == 0 || block.register_change.code == nullptr) return;
  checks::RegisterNeed need{.given = std::uint64_t{at_launch} * kLanes * block.warps.size(),
                            .at_launch = at_launch};
  for (const WarpState& state : block.warps) {
    need.asked += (state.engine.registers == 0 ? at_launch : state.engine.registers) * kLanes;
  }
  if (need.asked > need.given) {
    report_registers(block.launch.findings, block.register_change, need);
  }
}

}  // namespace

Size cluster_size(const Launch& launch) { return launch.cluster.value_or(Size{1, 1, 1}); }

Cluster::Cluster(LaunchContext& launch, Tallies& tallies) : launch_(launch) {
  const Size size = cluster_size(launch.launch);
  memory.blocks = size[0] * size[1] * size[2];
  finished_.resize(memory.blocks);
  for (std::uint32_t rank = 0; rank < memory.blocks; ++rank) {
    Block& block = *blocks_.emplace_back(std::make_unique<Block>(*this, rank, launch, tallies));
    memory.parts[rank].shared = block.shared.data();
    memory.parts[rank].history = block.history.get();
    memory.parts[rank].tiles = &block.tiles;
  }
}

void Cluster::start(std::uint64_t number) {
  const Size& grid = launch_.launch.grid;
  const Size size = cluster_size(launch_.launch);
  const Size at = index_in({grid[0] / size[0], grid[1] / size[1]}, number);
  arrived_ = 0;
  fruitless_ = 0;
  memory.begin();
  for (std::uint32_t rank = 0; rank < memory.blocks; ++rank) {
    const Size in = index_in(size, rank);
    const auto coordinate = [&](int n) { return std::uint64_t{at[n]} * size[n] + in[n]; };
    finished_[rank] = false;
    blocks_[rank]->start(coordinate(0) + grid[0] * (coordinate(1) + grid[1] * coordinate(2)));
  }
  running_ = blocks_.front()->number;
}

Block::Progress Cluster::advance() {
  for (;;) {
    bool any_left = false, any_moved = false, any_polls = false, any_busy = false;
    for (const auto& block : blocks_) {
      if (finished_[block->rank]) continue;
      running_ = block->number;
      const std::uint64_t before = block->steps;
      const Block::Progress progress = block->advance();
      any_moved |= block->steps != before;
      any_polls |= progress == Block::Progress::yields;
      any_busy |= progress == Block::Progress::busy;
      if (progress == Block::Progress::finished) finish(*block);
      any_left |= !finished_[block->rank];
    }
    if (!any_left) return Block::Progress::finished;
    if (any_busy) return Block::Progress::busy;
    if (any_polls) return Block::Progress::yields;
    if (!any_moved && !time_out()) {
      for (const auto& block : blocks_) report_missing_bytes(*block);
      report_deadlock();
    }
  }
}

bool Cluster::after_turn(Block& block) {
  const auto any = [&](auto is_so) {
    return std::ranges::any_of(blocks_, [&](const auto& each) {
      return !finished_[each->rank] && std::ranges::any_of(each->warps, is_so);
    });
  };
  const auto has_ended = [](const WarpState& state) { return state.pause == Pause::finished; };
  if (std::ranges::all_of(block.warps, has_ended)) finish(block);
  if (std::ranges::all_of(finished_, std::identity())) return true;
  while (!any([](const WarpState& state) { return can_go_on(state.warp); })) {
    if (time_out()) continue;
    for (const auto& each : blocks_) report_missing_bytes(*each);
    report_deadlock();
  }
  return false;
}

Block* Cluster::find(std::uint64_t number) {
  const auto found =
      std::ranges::find(blocks_, number, [](const auto& each) { return each->number; });
  return found == blocks_.end() ? nullptr : found->get();
}

void Cluster::finish(Block& block) {
  finished_[block.rank] = true;
  memory.parts[block.rank].has_ended = true;
  if (launch_.options.checks.async) check_registers(block);
  if (block.history == nullptr) return;
  report_missing_bytes(block);
  check_end(*block.history);
}

/// Waits with a time limit are over now. False if none waits so, or if it has led to nothing.
bool Cluster::time_out() {
  if (++fruitless_ > kMostFruitless) return false;
  bool any = false;
  for (const auto& block : blocks_) {
    if (!finished_[block->rank]) any |= give_up_waiting(*block);
  }
  return any;
}

std::uint32_t Cluster::live_threads() const {
  std::uint32_t threads = 0;
  for (const auto& block : blocks_) threads += block->live_threads;
  return threads;
}

void Cluster::arrive(Warp& warp, bool releases, bool waits) {
  WarpEngine& engine = *warp.engine;
  engine.at_cluster |= warp.active;
  arrived_ += static_cast<std::uint32_t>(std::popcount(warp.active));
  checks::History* const history = engine.block->history.get();
  if (history != nullptr) {
    if (releases) history->release(engine.index, Scope::cluster);
    history->times().arrive(engine.index, checks::BlockTimes::kOfCluster);
  }
  any_goes_on_ |= !waits;
  if (arrived_ >= live_threads()) complete_barrier();
}

void Cluster::wait(Warp& warp, const Instruction& instruction) {
  const Mask waiting = warp.active & warp.engine->at_cluster;
  if (waiting != 0) set_aside(warp, waiting, &instruction, State::waits_in_cluster);
}

void Cluster::complete_barrier() {
  note_event();
  arrived_ = 0;
  const bool any_goes_on = std::exchange(any_goes_on_, false);
  for (const auto& block : blocks_) {
    checks::BlockTimes* const times = block->times();
    for (WarpState& state : block->warps) {
      WarpEngine& engine = state.engine;
      engine.at_cluster = 0;
      if (times != nullptr && engine.live == 0) {
        times->arrive(engine.index, checks::BlockTimes::kOfCluster);  // it has exited
      }
      for (int n = 0; n < engine.count; ++n) {
        Fragment& waiting = engine.others[n];
        if (waiting.state != State::waits_in_cluster) continue;
        waiting.state = State::ready;
        ++waiting.pc;
        ask_scheduler(state.warp);
      }
    }
    memory.times.note_met(block->rank);
    if (times != nullptr) any_goes_on ? times->released_cluster() : times->released_all();
  }
  for (const auto& block : blocks_) {
    if (block->history != nullptr) block->history->learn_of(Scope::cluster);
  }
}

void Cluster::lanes_exited(WarpEngine& engine, Mask lanes) {
  note_event();
  arrived_ -= static_cast<std::uint32_t>(std::popcount(engine.at_cluster & lanes));
  engine.at_cluster &= ~lanes;
  if (arrived_ != 0 && arrived_ >= live_threads()) complete_barrier();
}

}  // namespace warpgauge::emulator::machine::control
