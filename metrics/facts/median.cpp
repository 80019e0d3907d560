// Estimates medians with order statistics.
#include "metrics/facts/median.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>

namespace warpgauge::metrics {
namespace {

/// The number of values to leave out at each end of n sorted ones, so that the rest still spans the
/// true median with 95 % confidence. The largest k with P(fewer than k of n lie below the median)
/// <= 2.5 % gives it.
std::size_t left_out(std::size_t n) {
  const auto count = static_cast<double>(n);
  const auto probability = [&](std::size_t below) {  // binomial, p = 1/2
    const auto k = static_cast<double>(below);
    return std::exp(std::lgamma(count + 1) - std::lgamma(k + 1) - std::lgamma(count - k + 1) -
                    count * std::log(2.0));
  };
  double sum = 0;
  std::size_t k = 0;
  while (k < n && sum + probability(k) <= 0.025) sum += probability(k++);
  return k == 0 ? 0 : k - 1;  // the k-th value from the end is the interval's end
}

}  // namespace

double MedianEstimate::spread() const {
  if (median == 0) return 0;
  return std::max(median - interval.low, interval.high - median) / std::abs(median);
}

MedianEstimate estimate_median(std::vector<double> values) {
  if (values.empty()) throw std::invalid_argument("the median of nothing");
  std::ranges::sort(values);
  const std::size_t n = values.size(), skipped = left_out(n);
  return {.median = (values[(n - 1) / 2] + values[n / 2]) / 2,
          .interval = {values[skipped], values[n - 1 - skipped]},
          .samples = static_cast<int>(n)};
}

}  // namespace warpgauge::metrics
