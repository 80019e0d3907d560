// Arithmetic behind the range profiler, apart from CUPTI so that it can be tested anywhere.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "metrics/facts/catalog.h"

namespace warpgauge::metrics {

/// The value of a metric in the catalog's unit (us, fraction) from those of its CUPTI names
/// (nanoseconds, per cent), in the order of the catalog. A rate made of two counters, hits and
/// misses, comes out as hits per cent of both: CUPTI's own rate takes the counters from different
/// passes and can exceed 100.
double range_value(const Metric& metric, std::span<const double> cupti_values);

/// The middle value, or the mean of the two in the middle; nullopt if any value is not finite (a
/// ratio of nothing) or there are none.
std::optional<double> median(std::vector<double> values);

}  // namespace warpgauge::metrics
