// The history of one block after the other.
#include "harness/emulator/machine/checks/history.h"

#include <algorithm>
#include <utility>

#include "harness/emulator/machine/core/access_details.h"

namespace warpgauge::emulator::machine::checks {

History::History(LaunchHistory& launch, const BlockShape& shape)
    : launch_(launch),
      cluster_(shape.cluster),
      rank_(shape.rank),
      memory_(shape.shared.data()),
      times_(shape.warps),
      shared_((shape.shared.size() + 3) / 4) {}

History::~History() { launch_.reached(global_time()); }

void History::begin_block(std::uint64_t number) {
  launch_.reached(global_time());
  any_in_flight_ |= !flights_.empty();
  flights_.clear();
  if (launch_.findings.kernel.is_async) {
    proxy_fences_.begin();
    mbarrier_fences_.begin();
    product_waits_.begin();
  }
  if (any_in_flight_ || times_.is_running_out()) {
    std::ranges::fill(shared_, WordTraces());
    any_in_flight_ = false;
    times_.restart();
  }
  times_.begin();
  block_ = number;
  acquired_ = acquired_in_cluster_ = 0;
  last_read_ = {};
  if (std::exchange(has_seen_, false)) {
    seen_ = {};
    seen_by_all_ = {};
  }
  cluster_.note_block(rank_, number);
  waited_ = {};
}

void History::wait_for_dependencies(std::uint32_t warp) {
  waited_[warp] = times_.now();
  launch_.note_waited();
  cluster_.note_waited(rank_);
}

bool History::are_dependencies_over(std::uint32_t warp) const {
  if (waited_[warp] != 0 || cluster_.has_other_waited(rank_)) return true;
  if (std::max(acquired_, acquired_in_cluster_) != 0 && launch_.has_waited()) return true;
  for (std::uint32_t other = 0; other < waited_.size(); ++other) {
    if (waited_[other] != 0 && times_.orders(other, waited_[other], warp)) return true;
  }
  return false;
}

void History::sync_lanes(std::uint32_t warp) {
  if (launch_.checks.lanes) times_.sync_lanes(warp);
}

void History::release(std::uint32_t warp, Scope scope) {
  times_.publish(warp);
  if (!launch_.tells(scope)) return;
  std::array<std::uint64_t, BlockTimes::kMostWarps> known;
  for (std::uint32_t other = 0; other < times_.warp_count(); ++other) {
    known[other] = global_time(times_.known(warp, other));
  }
  launch_.fence(block_, std::span(known).first(times_.warp_count()), scope);
}

void History::fence(std::uint32_t warp, Scope scope) {
  end_strong_read();
  times_.learn_seen(warp);
  for_seen(warp, [&](const Seen& seen) {
    if (scope == Scope::block) return;
    acquired_in_cluster_ = std::max(acquired_in_cluster_, seen.in_cluster);
    if (scope == Scope::grid) acquired_ = std::max(acquired_, seen.in_grid);
  });
  release(warp, scope);
}

void History::order_by(const Warp& warp, const Instruction& instruction, const Access& access,
                       Scope scope, std::uint32_t counter) {
  end_strong_read();
  if ((instruction.flags & memory_flag::kRelease) != 0) release(warp.number, scope);
  if (access.effect == AccessEffect::write) return;
  cluster_.note_met(rank_);
  last_read_ = {.scope = scope,
                .acquires = access.effect == AccessEffect::update ||
                            (instruction.flags & memory_flag::kAcquire) != 0,
                .warp = warp.number,
                .counter = counter};
  if (last_read_.acquires) return times_.learn(warp.number);
  Seen& seen = seen_[warp.number];
  if (times_.see(warp.number)) seen.counter_in_block = counter;
  if (seen.time != 0 && seen.time < times_.floor_of_all()) seen_by_all_.join(seen);
  seen.time = times_.now();
  has_seen_ = true;
}

void History::end_strong_read() {
  if (last_read_.scope == Scope::block) return;
  const StrongRead read = std::exchange(last_read_, StrongRead());
  if (read.acquires) return learn_of(read.scope);
  Seen& seen = seen_[read.warp];
  const std::uint64_t fenced = launch_.fenced();
  const bool is_new = fenced > (read.scope == Scope::grid ? seen.in_grid : seen.in_cluster);
  if (!is_new) return;
  seen.in_cluster = fenced;
  if (read.scope == Scope::grid) seen.in_grid = fenced;
  if (read.scope == Scope::grid || launch_.tells_clusters()) seen.counter = read.counter;
}

template <typename Function>
void History::for_seen(std::uint32_t warp, Function function) const {
  if (!has_seen_) return;
  function(seen_by_all_);
  for (std::uint32_t other = 0; other < seen_.size(); ++other) {
    const Seen& seen = seen_[other];
    if (seen.time == 0) continue;
    if (other == warp || times_.orders(other, seen.time, warp)) function(seen);
  }
}

std::optional<std::uint32_t> History::unfenced_read(std::uint32_t warp, const Event& event) const {
  std::optional<std::uint32_t> counter;
  for_seen(warp, [&](const Seen& seen) {
    if (is_known(event, seen.in_grid, seen.in_cluster)) counter = seen.counter;
  });
  return counter;
}

void History::learn_of(Scope scope) {
  if (scope == Scope::block) return;
  if (launch_.tells_clusters()) acquired_in_cluster_ = launch_.fenced();
  if (scope == Scope::grid) acquired_ = launch_.fenced();
}

bool History::is_new(std::uint64_t first, std::uint64_t second, bool wrote, bool of_warp) {
  return found_.insert({first, second, wrote, of_warp}).second;
}

}  // namespace warpgauge::emulator::machine::checks
