// The one table of metrics: every quantity warpgauge can measure, judge or show.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "metrics/facts/metric.h"

namespace warpgauge::metrics {

/// All metrics, in the order in which they are listed.
std::span<const Metric> catalog();

/// The metric called `id`, or nullptr. "counter.NAME" is the hardware counter that CUPTI calls
/// NAME: its row is made on the first call, from the shape of the name alone. (cupti.h says whether
/// a chip has it.)
const Metric* find_metric(std::string_view id);

/// The metric called `id`; throws std::out_of_range that names the nearest metric.
const Metric& metric(std::string_view id);

/// The distinct CUPTI names that the metrics of `source` need, in catalog order.
std::vector<std::string_view> cupti_names(Source source);

/// True if the metric needs a run: true for all sources except `cubin` and `occupancy`.
bool is_run_time(const Metric& metric);

/// True where the values are words, not numbers.
bool is_word(const Metric& metric);

}  // namespace warpgauge::metrics
