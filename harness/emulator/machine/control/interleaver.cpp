// Keeps to an order of the warps and blocks of a launch, or draws one.
#include "harness/emulator/machine/control/interleaver.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "harness/emulator/machine/core/code.h"

namespace warpgauge::emulator::machine::control {
namespace {

using Size = std::array<std::uint32_t, 3>;

// Instructions after which a warp gives way as if it polled.
constexpr std::uint64_t kMostSteps = 1 << 16;
constexpr std::size_t kDrawnClusters = 4;  // at once

Size grid_of_clusters(const Launch& launch) {
  const Size size = cluster_size(launch);
  return {launch.grid[0] / size[0], launch.grid[1] / size[1], launch.grid[2] / size[2]};
}

/// The number of the cluster that begins as the n-th one of a drawn order.
std::uint64_t drawn_cluster(std::uint64_t n, std::uint64_t clusters, std::uint64_t seed) {
  std::minstd_rand random(static_cast<std::uint_fast32_t>(seed));
  const std::uint64_t first = random() % clusters;
  std::uint64_t step = random() % std::min<std::uint64_t>(clusters, 1 << 16) + 1;
  while (std::gcd(step, clusters) != 1) ++step;
  return (n * step + first) % clusters;
}

}  // namespace

Interleaver::Interleaver(const LaunchContext& launch)
    : launch_(launch),
      wanted_(*launch.launch.interleaving),
      clusters_(volume(grid_of_clusters(launch.launch))),
      random_(static_cast<std::uint_fast32_t>(wanted_.seed)) {
  if (wanted_.seed == 0) {
    for (const Switch& each : wanted_.order.switches) ahead_[each.from].push_back(each);
  }
  for (auto& [warp, switches] : ahead_) {
    std::ranges::stable_sort(switches, std::ranges::greater(), &Switch::after);
  }
  if (wanted_.made != nullptr) wanted_.made->clear();
  if (wanted_.places == nullptr) return;
  wanted_.places->clear();
  for (const KernelCode::Counter& counter : launch.code.counters) {
    accesses_.insert({counter.code, counter.instruction});
  }
}

std::optional<Interleaver::Turn> Interleaver::next(const Clusters& running, bool may_begin) {
  ready_.clear();
  running_ = running.size();
  while (begun_.erase(next_cluster_) > 0) ++next_cluster_;
  may_begin_ = may_begin && next_cluster_ < clusters_;
  all_poll_ = false;
  for (const auto& cluster : running) {
    for (const auto& block : cluster->blocks()) {
      for (WarpState& state : block->warps) {
        if (can_go_on(state.warp)) ready_.push_back({{block->number, state.engine.index}, &state});
      }
    }
  }
  const std::optional<Choice> usual = usual_choice();
  if (!usual) return std::nullopt;
  Choice chosen = *usual;
  if (decides_) chosen = wanted_.seed != 0 ? drawn(*usual) : kept_to(*usual);
  if (chosen.warp != usual->warp) note_switch(chosen.warp);
  if (chosen.warp != last_) {
    turn_steps_ = 0;
    is_after_switch_ &= chosen.warp != usual->warp;
  }
  Turn turn{.begins = std::nullopt, .warp = chosen.warp, .all_poll = all_poll_};
  if (chosen.state == nullptr) {
    turn.begins = cluster_of(chosen.warp.block);
    begun_.insert(*turn.begins);
  }
  turn.steps = std::min(wanted_.seed != 0 ? drawn_steps() : steps_until_switch(chosen),
                        kMostSteps - turn_steps_);
  return turn;
}

/// The warp that goes on where no switch is made: the last one, as long as it can; the lowest one
/// that has not polled since anything else happened; the next block; the lowest one. Nothing: all
/// have ended.
std::optional<Interleaver::Choice> Interleaver::usual_choice() {
  const bool goes_on =
      last_state_ != nullptr && !last_state_->tired && can_go_on(last_state_->warp);
  if (goes_on) return Choice{last_, last_state_};
  const auto lowest = [&]() -> std::optional<Choice> {
    std::optional<Choice> found;
    for (const Choice& choice : ready_) {
      if (choice.state->tired || (found && found->warp < choice.warp)) continue;
      found = choice;
    }
    return found;
  };
  if (const auto found = lowest()) return found;
  if (may_begin_) return Choice{first_warp_of(next_cluster_)};
  all_poll_ = any_tired_;
  for (const Choice& choice : ready_) choice.state->tired = false;
  any_tired_ = false;
  return lowest();
}

/// Any that can go on, or a new block.
Interleaver::Choice Interleaver::drawn(const Choice& usual) {
  std::vector<Choice> choices;
  for (const Choice& choice : ready_) {
    if (!choice.state->tired) choices.push_back(choice);
  }
  const bool begins = may_begin_ && (running_ < kDrawnClusters || choices.empty());
  const std::uint64_t choice = random_() % std::max<std::size_t>(choices.size() + begins, 1);
  if (choice < choices.size()) return choices[choice];
  if (!begins) return usual;
  std::uint64_t cluster = 0;
  do {
    cluster = drawn_cluster(drawn_clusters_++, clusters_, wanted_.seed);
  } while (!can_begin(cluster));
  return {first_warp_of(cluster)};
}

/// The one of the switch that is to be made now, if it can go on.
Interleaver::Choice Interleaver::kept_to(const Choice& usual) {
  const auto found = ahead_.find(last_);
  if (found == ahead_.end()) return usual;
  const std::uint64_t executed = last_state_ == nullptr ? 0 : last_state_->executed();
  std::vector<Switch>& ahead = found->second;
  Choice chosen = usual;
  while (!ahead.empty() && ahead.back().after <= executed) {
    const WarpId to = ahead.back().to;
    ahead.pop_back();
    const auto ready = std::ranges::find(ready_, to, &Choice::warp);
    if (ready != ready_.end()) {
      chosen = *ready;
    } else if (may_begin_ && can_begin(cluster_of(to.block))) {
      chosen = {to};
    }
  }
  return chosen;
}

std::uint64_t Interleaver::drawn_steps() {
  const std::uint64_t most = std::uint64_t{1} << random_() % wanted_.longest;
  return 1 + random_() % most;
}

void Interleaver::note_switch(const WarpId& to) {
  is_after_switch_ = true;
  const std::uint64_t executed = last_state_ == nullptr ? 0 : last_state_->executed();
  std::vector<Switch>* const made = wanted_.made;
  if (made != nullptr && made->size() < kMostSwitches) made->push_back({last_, executed, to});
  if (wanted_.places == nullptr) return;
  const auto from = places_.find(last_);
  wanted_.places->push_back({from == places_.end() ? Act{} : from->second, Act{}});
}

std::uint64_t Interleaver::steps_until_switch(const Choice& choice) const {
  const auto found = ahead_.find(choice.warp);
  if (found == ahead_.end()) return kMostSteps;
  const std::uint64_t executed = choice.state == nullptr ? 0 : choice.state->executed();
  for (auto next = found->second.rbegin(); next != found->second.rend(); ++next) {
    if (next->after > executed) return next->after - executed;
  }
  return kMostSteps;
}

bool Interleaver::can_begin(std::uint64_t cluster) const {
  return cluster < clusters_ && cluster >= next_cluster_ && !begun_.contains(cluster);
}

std::uint64_t Interleaver::cluster_of(std::uint64_t block) const {
  const Size size = cluster_size(launch_.launch), grid = grid_of_clusters(launch_.launch);
  const Size at = index_in(launch_.launch.grid, block);
  return at[0] / size[0] +
         std::uint64_t{grid[0]} * (at[1] / size[1] + std::uint64_t{grid[1]} * (at[2] / size[2]));
}

WarpId Interleaver::first_warp_of(std::uint64_t cluster) const {
  const Size size = cluster_size(launch_.launch);
  const Size& grid = launch_.launch.grid;
  const Size at = index_in(grid_of_clusters(launch_.launch), cluster);
  return {std::uint64_t{at[0]} * size[0] + grid[0] * (std::uint64_t{at[1]} * size[1] +
                                                      grid[1] * (std::uint64_t{at[2]} * size[2])),
          0};
}

void Interleaver::run(Block& block, const Turn& turn) {
  WarpState& state = block.warps[turn.warp.warp];
  last_ = turn.warp;
  last_state_ = &state;
  const std::uint64_t before = state.executed();
  if (wanted_.places == nullptr) {
    block.run_turn(state, turn.steps);
  } else {
    run_watched(block, state, turn.steps);
  }
  const std::uint64_t done = state.executed() - before;
  decides_ = done != 0;
  turn_steps_ += done;
  if (state.pause == Pause::yields || turn_steps_ >= kMostSteps) {
    state.tired = any_tired_ = true;
    turn_steps_ = 0;
  } else if (done != 0 && any_tired_) {
    for (const Choice& choice : ready_) choice.state->tired = false;
    any_tired_ = false;
  }
}

/// One instruction after the other, to see which access memory.
void Interleaver::run_watched(Block& block, WarpState& state, std::uint64_t steps) {
  const std::uint64_t end = state.executed() + steps;
  do {
    const Act act = next_act(state.warp);
    block.run_turn(state, state.engine.polling.rotating ? end - state.executed() : 1);
    if (act.code == nullptr) continue;
    Act& last = places_[last_];
    const bool accesses = accesses_.contains({act.code, act.instruction});
    const bool accessed = last.code != nullptr && accesses_.contains({last.code, last.instruction});
    if (accesses || !accessed) last = act;
    if (!is_after_switch_) continue;
    Act& to = wanted_.places->back().to;
    if (accesses || to.code == nullptr) to = act;
  } while (state.pause == Pause::slice && state.executed() < end);
}

}  // namespace warpgauge::emulator::machine::control
