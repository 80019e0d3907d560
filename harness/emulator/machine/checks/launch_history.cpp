// The order of blocks by fences, and of launches.
#include "harness/emulator/machine/checks/launch_history.h"

#include <algorithm>
#include <cstddef>

namespace warpgauge::emulator::machine::checks {
namespace {

constexpr int kNumberBits = 40;
static_assert(GlobalTrace::kMostTime < std::uint64_t{1} << (64 - kNumberBits));

std::uint64_t number_of(std::uint64_t fence) {
  return fence & ((std::uint64_t{1} << kNumberBits) - 1);
}
std::uint64_t time_of_fence(std::uint64_t fence) { return fence >> kNumberBits; }

/// Starts the time anew before it runs out.
GlobalTraces& with_time_left(WatchedMemory& memory) {
  GlobalTraces& traces = memory.traces();
  if (traces.now > GlobalTrace::kMostTime / 2) memory.forget_traces();
  return traces;
}

}  // namespace

LaunchHistory::LaunchHistory(const Checks& checks, WatchedMemory& memory, Findings& findings,
                             std::uint64_t blocks, std::vector<bool> settled_reads)
    : checks(checks),
      memory(memory),
      findings(findings),
      traces(with_time_left(memory)),
      begin(++traces.now),
      by_warp_(blocks <= kMostBlocksByWarp),
      settled_reads_(std::move(settled_reads)),
      has_narrow_scope_(findings.kernel.has_narrow_scope) {
  const Launch& launch = findings.launch;
  if (blocks <= GlobalTrace::kActors) {
    of_grid_ = std::make_unique<FencesOfBlock[]>(blocks);
    if (launch.cluster) of_cluster_ = std::make_unique<FencesOfBlock[]>(blocks);
  }
  traces.launches.add({.number = launch.number,
                       .begin = begin,
                       .kernel = &findings.kernel,
                       .shape = {.grid = launch.grid, .block = launch.block}});
  if (!checks.races) return;
  for (const ConcurrentLaunch& other : launch.concurrent) {
    const EarlierLaunch* const earlier = traces.launches.numbered(other.number);
    if (earlier == nullptr || (other.until_wait && !earlier->lets_dependents_begin)) continue;
    concurrent_.push_back({earlier, other.until_wait});
    has_narrow_scope_ |= earlier->kernel->has_narrow_scope;
  }
  std::ranges::sort(concurrent_, {}, [](const Concurrent& other) { return other.launch->begin; });
}

LaunchHistory::~LaunchHistory() {
  if (lets_dependents_begin_) traces.launches.latest().lets_dependents_begin = true;
}

const LaunchHistory::Concurrent* LaunchHistory::concurrent_at(std::uint64_t time) const {
  const EarlierLaunch* const earlier = traces.launches.at(time);
  const auto found = std::ranges::find(concurrent_, earlier, &Concurrent::launch);
  return found == concurrent_.end() ? nullptr : &*found;
}

void LaunchHistory::Fences::note(std::uint64_t time, std::uint64_t number) {
  const std::uint64_t old = last.load(std::memory_order_relaxed);
  if (time <= time_of_fence(old)) return;  // it tells of nothing new
  before.store(old, std::memory_order_relaxed);
  last.store(time << kNumberBits | number, std::memory_order_release);
}

bool LaunchHistory::Fences::order(std::uint64_t time, std::uint64_t acquired) const {
  const std::uint64_t newest = last.load(std::memory_order_acquire);
  if (time >= time_of_fence(newest)) return false;
  if (time < time_of_fence(before.load(std::memory_order_relaxed))) return acquired != 0;
  return number_of(newest) <= acquired;
}

void LaunchHistory::FencesOfBlock::note(std::span<const std::uint64_t> times, bool by_warp,
                                        std::uint64_t number) {
  const auto [first, last] = std::ranges::minmax(times);
  if (first == last || !by_warp) return all_.note(last, number);
  all_.note(first, number);
  Fences* fences = by_warp_.load(std::memory_order_relaxed);
  if (fences == nullptr) {
    fences = new Fences[times.size()];
    by_warp_.store(fences, std::memory_order_release);
  }
  for (std::size_t warp = 0; warp < times.size(); ++warp) {
    if (times[warp] > first) fences[warp].note(times[warp], number);
  }
}

bool LaunchHistory::FencesOfBlock::order(std::uint32_t warp, std::uint64_t time,
                                         std::uint64_t acquired) const {
  if (all_.order(time, acquired)) return true;
  const Fences* const fences = by_warp_.load(std::memory_order_acquire);
  return fences != nullptr && fences[warp].order(time, acquired);
}

void LaunchHistory::fence(std::uint64_t block, std::span<const std::uint64_t> times, Scope scope) {
  const std::uint64_t number = fences_made_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (tells_clusters()) of_cluster_[block].note(times, by_warp_, number);
  if (scope == Scope::grid) of_grid_[block].note(times, by_warp_, number);
}

bool LaunchHistory::orders(std::uint64_t block, std::uint32_t warp, std::uint64_t time, Scope scope,
                           std::uint64_t acquired) const {
  const FencesOfBlock& fences = scope == Scope::grid ? of_grid_[block] : of_cluster_[block];
  return fences.order(warp, time, acquired);
}

void LaunchHistory::reached(std::uint64_t time) {
  std::uint64_t now = traces.now.load(std::memory_order_relaxed);
  while (now < time && !traces.now.compare_exchange_weak(now, time)) continue;
}

}  // namespace warpgauge::emulator::machine::checks
