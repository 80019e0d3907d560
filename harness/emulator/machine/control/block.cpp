// Blocks: their memory, the warps in turn, limits, deadlocks.
#include "harness/emulator/machine/control/block.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "harness/emulator/machine/control/cluster.h"

namespace warpgauge::emulator::machine::control {
namespace {

// Instructions between two looks at the limits.
constexpr std::uint64_t kSlice = 1 << 16;
// Slices of a warp that does not wait, before others get their turn: it may wait in a way that
// decoding has not seen.
constexpr int kLongTurn = 16;
constexpr std::size_t kSharedAlignment = 1024;

std::uint64_t threads_of(const Launch& launch) {
  return std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
}

Mask first_lanes(std::uint64_t count) {
  return count >= kLanes ? kAllLanes : (Mask{1} << count) - 1;
}

}  // namespace

std::uint64_t odd_cache_lines(std::uint64_t bytes) {
  constexpr std::uint64_t kCacheLine = 64;
  return ((bytes + kCacheLine - 1) / kCacheLine | 1) * kCacheLine;
}

Block::Block(Cluster& cluster, std::uint32_t rank, LaunchContext& launch, Tallies& tallies)
    : launch(launch),
      cluster(cluster),
      rank(rank),
      warps((threads_of(launch.launch) + kLanes - 1) / kLanes) {
  const Code& kernel = *launch.code.functions.front();
  const std::size_t independent = keeps_warps_apart() ? warps.size() : 1;
  const std::uint64_t shared_bytes = launch.inputs.total_shared_bytes;
  registers = AlignedBytes(odd_cache_lines(kernel.register_bytes) * independent);
  shared = AlignedBytes(shared_bytes, kSharedAlignment);
  if (launch.history != nullptr) {
    history = std::make_unique<checks::History>(
        *launch.history,
        checks::History::BlockShape{
            cluster.memory.times, rank, warps.size(), {shared.data(), shared.size()}});
  }
  local = AlignedBytes(launch.stack_bytes * kLanes * independent);
  specials = AlignedBytes(odd_cache_lines(launch.code.specials.bytes()) * warps.size());
  for (std::size_t n = 0; n < warps.size(); ++n) {
    prepare(warps[n], static_cast<std::uint32_t>(n), tallies);
  }
}

// Prepares what stays the same from block to block. Warps that do not wait for each other run one
// after the other, in the same registers.
void Block::prepare(WarpState& state, std::uint32_t number, Tallies& tallies) {
  const KernelCode& code = launch.code;
  const Code& kernel = *code.functions.front();
  const std::uint64_t place = keeps_warps_apart() ? number : 0;
  state.engine.block = this;
  state.engine.index = number;
  state.warp.number = number;
  state.engine.counts.branches = tallies.branches.data();
  state.engine.counts.hits = tallies.hits.empty() ? nullptr : &tallies.hits;
  Frame& frame = state.engine.kernel_frame;
  frame.code = &kernel;
  frame.registers = registers.data() + place * odd_cache_lines(kernel.register_bytes);
  state.warp.engine = &state.engine;
  state.warp.memory = &state.memory;

  memory::MemoryContext& memory = state.memory;
  memory.memory = &launch.memory;
  memory.caches = tallies.counters.caches();
  memory.records = tallies.counters.records();
  memory.shared = shared.data();
  memory.shared_bytes = static_cast<std::uint32_t>(shared.size());
  memory.cluster = &cluster.memory;
  memory.rank = rank;
  const Checks& checks = launch.options.checks;
  memory.history = history.get();
  memory.findings = &launch.findings;
  memory.checks_stores = checks.stores;
  memory.checks_shuffles = checks.shuffles;
  memory.observed = history != nullptr || checks.stores;
  memory.local = local.data() + place * kLanes * launch.stack_bytes;
  memory.local_stride = launch.stack_bytes;
  memory.parameters = launch.launch.parameters.data();
  memory.parameter_bytes = launch.launch.parameters.size();

  state.warp.bases[OperandSlot::constants] = code.constants.data();
  state.warp.bases[OperandSlot::specials] =
      specials.data() + number * odd_cache_lines(code.specials.bytes());
  state.warp.bases[OperandSlot::parameters] = launch.parameters.data();
  SpecialInputs inputs = launch.inputs;
  inputs.warp = number;
  code.specials.fill_warp(state.warp.bases[OperandSlot::specials], inputs);
  write_local_addresses(frame);
}

void Block::start(std::uint64_t block_number) {
  number = block_number;
  index = index_in(launch.launch.grid, number);
  barriers = {};
  barriers_in_use = 0;
  mbarriers.reset();
  tiles.reset();
  register_change = {};
  steps = next_check = 0;
  live_threads = static_cast<std::uint32_t>(threads_of(launch.launch));
  if (history != nullptr) history->begin_block(number);
  SpecialInputs inputs = launch.inputs;
  inputs.block_index = index;
  inputs.block_number = static_cast<std::uint32_t>(number);
  for (WarpState& state : warps) {
    state.memory.block = index;
    state.warp.block = number;
    launch.code.specials.fill_block(state.warp.bases[OperandSlot::specials], inputs);
    start(state);
  }
}

void Block::start(WarpState& state) {
  WarpEngine& engine = state.engine;
  const std::uint64_t threads = threads_of(launch.launch);
  engine.live = first_lanes(threads - std::uint64_t{engine.index} * kLanes);
  engine.kernel_frame.lanes = engine.live;
  engine.count = 0;
  engine.at_cluster = 0;
  engine.unordered = false;
  engine.polling = {};
  engine.products = {};
  engine.registers = 0;
  state.warp.mask = engine.live;
  state.warp.carry = 0;
  state.warp.next = engine.kernel_frame.code->instructions.data();
  state.warp.limit = no_limit();
  state.memory.copies.reset();
  state.bulk_groups.reset();
  state.pause = Pause::slice;
  state.first = engine.counts.executed;
  state.tired = false;
  switch_to(state.warp, engine.kernel_frame);
}

void Block::check_limits(const WarpState& state) {
  if (launch.stop.load(std::memory_order_relaxed)) throw LaunchStopped();
  const Options& options = launch.options;
  const bool too_many = options.step_limit != 0 && steps >= options.step_limit;
  std::string limit;
  if (too_many) {
    limit = "the block has executed " + std::to_string(steps) +
            " warp instructions, the limit is " + std::to_string(options.step_limit);
  } else if (options.time_limit.count() != 0 &&
             std::chrono::steady_clock::now() >= launch.deadline) {
    limit = "the launch has taken longer than its limit of " +
            std::to_string(options.time_limit.count()) + " ms";
  } else if (options.cpu_limit.count() != 0 && CpuClock::now() >= launch.cpu_deadline) {
    limit = "the launch has taken longer than its limit of " +
            std::to_string(options.cpu_limit.count()) + " ms of CPU time";
  } else {
    return;
  }
  const Warp& warp = state.warp;
  const Frame& frame = *state.engine.frame;
  const std::size_t last = frame.code->instructions.size() - 1;
  const std::size_t at = warp.mask == 0 ? last : warp.next - frame.code->instructions.data();
  fault(warp, frame.code->instructions[std::min(at, last)], warp.mask,
        too_many ? Fault::Kind::step_limit : Fault::Kind::time_limit,
        (limit + ": an endless loop, or one that waits for a block that has not begun").c_str());
}

// False if the warp could do nothing.
bool Block::run_warp(WarpState& state, std::uint64_t slice) {
  const std::uint64_t step_limit = launch.options.step_limit;
  if (step_limit != 0) slice = std::min(slice, step_limit - std::min(steps, step_limit));
  const std::uint64_t before = state.engine.counts.steps;
  state.pause = run(state.warp, slice);
  const std::uint64_t done = state.engine.counts.steps - before;
  steps += done;
  if (steps >= next_check || (state.pause == Pause::slice && slice == kSlice)) {
    check_limits(state);
    next_check = steps + kSlice;
    if (step_limit != 0) next_check = std::min(next_check, step_limit);
  }
  return done != 0;
}

// However many instructions a turn has, it ends in the same state after the last one.
void Block::run_turn(WarpState& state, std::uint64_t steps) {
  WarpEngine& engine = state.engine;
  run_warp(state, engine.polling.rotating ? kSlice : steps);
  if (state.pause != Pause::slice) return;
  if (engine.live == 0) {
    state.pause = Pause::finished;
  } else if (std::exchange(engine.polling.yields, false)) {
    state.pause = Pause::yields;
  } else if (!can_go_on(state.warp)) {
    state.pause = Pause::waits;
  }
}

Block::Progress Block::advance() {
  for (;;) {
    bool any_left = false, any_moved = false, any_finished = false, any_busy = false;
    for (WarpState& state : warps) {
      if (state.pause == Pause::finished) continue;
      any_moved |= run_warp(state, kSlice);
      for (int n = 1; n < kLongTurn && state.pause == Pause::slice; ++n) run_warp(state, kSlice);
      const bool is_busy = state.pause == Pause::slice;
      if (is_busy && !keeps_warps_apart()) return Progress::busy;  // in registers of all
      any_busy |= is_busy;
      any_left |= state.pause != Pause::finished;
      any_finished |= state.pause == Pause::finished;
    }
    if (!any_left) return Progress::finished;
    if (!any_moved) return Progress::waits;
    if (any_busy) return Progress::busy;
    const auto polls = [](const WarpState& s) { return s.pause == Pause::yields; };
    if (!any_finished && std::any_of(warps.begin(), warps.end(), polls)) return Progress::yields;
  }
}

}  // namespace warpgauge::emulator::machine::control
