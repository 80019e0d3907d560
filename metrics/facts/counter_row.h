// Rows of the table of metrics that are not written down: hardware counters by their names.
#pragma once

#include <string_view>

#include "metrics/facts/metric.h"

namespace warpgauge::metrics {

inline constexpr std::string_view kCounterPrefix = "counter.";
/// The row of "counter.NAME"; nullptr where `id` has another shape. The same for the same id, for
/// as long as the program runs.
const Metric* find_counter(std::string_view id);

/// True for a hardware counter by its name, "counter.NAME"; cupti_names has the NAME.
bool is_counter(const Metric& metric);

}  // namespace warpgauge::metrics
