// Units and medians of hardware counters.
#include "metrics/range_values.h"

#include <algorithm>
#include <cmath>

namespace warpgauge::metrics {

double in_catalog_unit(const Metric& metric, double cupti_value) {
  if (metric.unit == "us") return cupti_value / 1000;
  if (metric.unit == "fraction") return cupti_value / 100;
  return cupti_value;
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
