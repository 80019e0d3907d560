// How often the counts of a program are taken while it runs.
#pragma once

#include <chrono>

namespace warpgauge::attach {

/// Takes counts so seldom that this costs, over time, no more than a twentieth of the time.
class TakingPace {
 public:
  using Clock = std::chrono::steady_clock;

  void taken(Clock::time_point begin, Clock::time_point end) {
    last_ = end;
    cost_ = end - begin;
  }
  /// True where a taking that costs as much as the last one would be within that share.
  bool allows(Clock::time_point now) const {
    constexpr int kShare = 20;
    return now - last_ >= (kShare - 1) * cost_;
  }

 private:
  Clock::time_point last_;
  Clock::duration cost_{};
};

}  // namespace warpgauge::attach
