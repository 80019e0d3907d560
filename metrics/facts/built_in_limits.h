// The built-in budgets: limits that hold for every kernel unless its budget file says otherwise.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "metrics/facts/limit.h"

namespace warpgauge::metrics {

/// The built-in limits by metric: a right result, and no bank conflicts, spills or local traffic.
const std::map<std::string, Limit, std::less<>>& built_in_limits();

/// The built-in limit of a metric, or nullptr.
const Limit* built_in_limit(std::string_view metric);

}  // namespace warpgauge::metrics
