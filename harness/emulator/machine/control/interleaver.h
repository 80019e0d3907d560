// Which warp of a launch goes on next, where one thread runs them in turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "harness/emulator/machine/control/block.h"
#include "harness/emulator/machine/control/cluster.h"
#include "harness/emulator/machine/core/order.h"

namespace warpgauge::emulator::machine::control {

/// Keeps to an order, or draws one.
class Interleaver {
 public:
  using Clusters = std::vector<std::unique_ptr<Cluster>>;

  explicit Interleaver(const LaunchContext& launch);

  /// The turn of a warp.
  struct Turn {
    std::optional<std::uint64_t> begins;  ///< the cluster that is to begin for it
    WarpId warp;
    std::uint64_t steps = 0;  ///< the instructions that it may execute, at most
    bool all_poll = false;    ///< all that can go on have polled since anything else happened
  };
  /// The next turn, where these clusters run and a further one may begin or not; nothing: all
  /// blocks have ended.
  std::optional<Turn> next(const Clusters& running, bool may_begin);
  /// Runs the warp for a turn. Throws Fault.
  void run(Block& block, const Turn& turn);

 private:
  struct Choice {
    WarpId warp;
    WarpState* state = nullptr;  ///< nullptr: of a block that has not begun
  };

  std::optional<Choice> usual_choice();
  Choice drawn(const Choice& usual);
  Choice kept_to(const Choice& usual);
  std::uint64_t drawn_steps();
  void note_switch(const WarpId& to);
  std::uint64_t steps_until_switch(const Choice& choice) const;
  bool can_begin(std::uint64_t cluster) const;
  std::uint64_t cluster_of(std::uint64_t block) const;
  WarpId first_warp_of(std::uint64_t cluster) const;
  void run_watched(Block& block, WarpState& state, std::uint64_t steps);

  const LaunchContext& launch_;
  Interleaving& wanted_;
  const std::uint64_t clusters_;
  std::uint64_t next_cluster_ = 0;               ///< the lowest that has not begun
  std::set<std::uint64_t> begun_;                ///< clusters behind that one
  std::map<WarpId, std::vector<Switch>> ahead_;  ///< switches to be made, the next one last

  // Those of the present call of next().
  std::vector<Choice> ready_;  ///< warps that can go on
  std::size_t running_ = 0;    ///< clusters
  bool may_begin_ = false, all_poll_ = false;

  WarpId last_;                      ///< the warp that had the last turn
  WarpState* last_state_ = nullptr;  ///< nullptr: none had
  bool decides_ = true;              ///< it has executed something since the last decision
  std::uint64_t turn_steps_ = 0;     ///< since it was switched to
  bool any_tired_ = false;           ///< WarpState::tired of some

  std::mt19937 random_;
  std::uint64_t drawn_clusters_ = 0;

  std::set<std::pair<const Code*, std::uint32_t>> accesses_;  ///< where places are asked for
  std::map<WarpId, Act> places_;                              ///< the last ones
  bool is_after_switch_ = false;
};

}  // namespace warpgauge::emulator::machine::control
