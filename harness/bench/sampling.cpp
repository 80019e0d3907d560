// Decides after each timing whether the median is known well enough.
#include "harness/bench/sampling.h"

#include <vector>

namespace warpgauge::bench {

metrics::MedianEstimate sample(const Sampling& sampling, const std::function<double()>& time_us) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  do {
    time_us();  // the first run of a kernel loads its code
  } while (Clock::now() - start < sampling.warm_up);
  std::vector<double> times;
  int next_look = sampling.least;
  for (;;) {
    times.push_back(time_us());
    const auto count = static_cast<int>(times.size());
    const bool out_of_time = Clock::now() - start >= sampling.time_limit;
    const bool last = count >= sampling.most || (out_of_time && count >= sampling.least);
    if (!last && count < next_look) continue;
    const metrics::MedianEstimate estimate = metrics::estimate_median(times);
    if (last || sampling.is_stable(estimate)) return estimate;
    next_look *= 2;
  }
}

}  // namespace warpgauge::bench
