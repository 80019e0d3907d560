// The order of blocks by fences, and of launches.
#include "harness/emulator/machine/checks/launch_history.h"

#include <algorithm>

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
      settled_reads_(std::move(settled_reads)),
      has_narrow_scope_(findings.kernel.has_narrow_scope) {
  const Launch& launch = findings.launch;
  if (blocks <= GlobalTrace::kActors) {
    of_grid_ = std::make_unique<Fences[]>(blocks);
    if (launch.cluster) of_cluster_ = std::make_unique<Fences[]>(blocks);
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
  before.store(last.load(std::memory_order_relaxed), std::memory_order_relaxed);
  last.store(time << kNumberBits | number, std::memory_order_release);
}

void LaunchHistory::fence(std::uint64_t block, std::uint64_t time, Scope scope) {
  if (scope == Scope::grid ? !tells_blocks() : scope == Scope::block || !tells_clusters()) return;
  const std::uint64_t number = fences_made_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (tells_clusters()) of_cluster_[block].note(time, number);
  if (scope == Scope::grid) of_grid_[block].note(time, number);
}

bool LaunchHistory::orders(std::uint64_t block, std::uint64_t time, Scope scope,
                           std::uint64_t acquired) const {
  const Fences& fences = scope == Scope::grid ? of_grid_[block] : of_cluster_[block];
  const std::uint64_t last = fences.last.load(std::memory_order_acquire);
  if (time >= time_of_fence(last)) return false;
  const std::uint64_t before = fences.before.load(std::memory_order_relaxed);
  if (time < time_of_fence(before)) return acquired != 0;
  return number_of(last) <= acquired;
}

void LaunchHistory::reached(std::uint64_t time) {
  std::uint64_t now = traces.now.load(std::memory_order_relaxed);
  while (now < time && !traces.now.compare_exchange_weak(now, time)) continue;
}

}  // namespace warpgauge::emulator::machine::checks
