// How often a case is timed: until its median is known well enough, or that is given up.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>

#include "metrics/facts/median.h"

namespace warpgauge::bench {

struct Sampling {
  int least = 15, most = 301;  ///< timed runs
  double precision = 0.01;     ///< to which the median is to be known: see MedianEstimate::spread()
  std::chrono::milliseconds warm_up{30};  ///< runs before the first that counts, for clocks to rise
  std::chrono::milliseconds time_limit{500};  ///< for all runs of a case, beyond the least

  /// The same for a GPU that was idle so long. On an H100 that was idle for 1 ms to 2 s the first
  /// run took up to 2.3 times as long as usual, and those behind it at most 1.06 times.
  Sampling after(std::chrono::nanoseconds idle) const {
    Sampling sampling = *this;
    sampling.warm_up = std::min(warm_up, std::chrono::ceil<std::chrono::milliseconds>(idle / 10));
    return sampling;
  }

  bool is_stable(const metrics::MedianEstimate& estimate) const {
    return estimate.spread() <= precision;
  }
};

/// Warms up (one run at least), then calls `time_us` until the median of what it returns is known
/// to the precision, or as often and as long as it may. Checks that after 15, 30, 60, ... runs: a
/// check after each run would stop at a lucky one and make the interval too narrow.
metrics::MedianEstimate sample(const Sampling& sampling, const std::function<double()>& time_us);

}  // namespace warpgauge::bench
