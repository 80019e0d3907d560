// Medians of hardware counters.
#include "metrics/cupti/counter_median.h"

#include <algorithm>
#include <cmath>

namespace warpgauge::metrics {

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  if (!std::ranges::all_of(values, [](double value) { return std::isfinite(value); })) {
    return std::nullopt;
  }
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

}  // namespace warpgauge::metrics
