// The history of one block after the other.
#include "harness/emulator/machine/checks/history.h"

#include <algorithm>

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
  proxy_fences_.begin();
  mbarrier_fences_.begin();
  product_waits_.begin();
  if (any_in_flight_ || times_.is_running_out()) {
    std::ranges::fill(shared_, WordTraces());
    any_in_flight_ = false;
    times_.restart();
  }
  times_.begin();
  block_ = number;
  acquired_ = acquired_in_cluster_ = 0;
  acquires_ = Scope::block;
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

void History::fence(std::uint32_t warp, Scope scope) {
  times_.publish(warp);
  launch_.fence(block_, global_time(), scope);
}

void History::acquire(std::uint32_t warp, Scope scope) {
  times_.learn(warp);
  cluster_.note_met(rank_);
  learn_of(scope);
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
