// Converts hardware counters to the catalog's units, and takes medians.
#include "metrics/cupti/range_values.h"

#include <algorithm>
#include <cmath>

namespace warpgauge::metrics {

double range_value(const Metric& metric, std::span<const double> cupti_values) {
  const double value = cupti_values[0];
  if (cupti_values.size() == 2) return 100 * value / (value + cupti_values[1]);
  if (metric.unit == "us") return value / 1000;
  if (metric.unit == "fraction") return value / 100;
  return value;
}

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
