// The median of a hardware counter's values, apart from CUPTI so that it can be tested anywhere.
#pragma once

#include <optional>
#include <vector>

namespace warpgauge::metrics {

/// The middle value, or the mean of the two in the middle; nullopt if any value is not finite (a
/// ratio of nothing) or there are none.
std::optional<double> median(std::vector<double> values);

}  // namespace warpgauge::metrics
