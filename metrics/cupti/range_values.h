// The arithmetic of the range profiler. It needs no CUPTI, so that tests run anywhere.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "metrics/facts/catalog.h"

namespace warpgauge::metrics {

/// The value of a metric in the catalog's unit (us, fraction) from those of its CUPTI names
/// (nanoseconds, per cent), in the order of the catalog. A rate of two counters, hits and misses,
/// is hits in per cent of both: CUPTI's own rate takes the counters from different passes and can
/// exceed 100.
double range_value(const Metric& metric, std::span<const double> cupti_values);

/// The middle value, or the mean of the two in the middle; nullopt if `values` is empty or a value
/// is not finite (a ratio 0/0).
std::optional<double> median(std::vector<double> values);

}  // namespace warpgauge::metrics
