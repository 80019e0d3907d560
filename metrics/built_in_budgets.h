// The built-in budgets: limits that hold for every kernel unless its budget file says otherwise.
#pragma once

#include "metrics/budget.h"

namespace warpgauge::metrics {

/// A right result, and no bank conflicts, spills or local traffic, by metric.
const Budgets::Section& built_in_limits();

}  // namespace warpgauge::metrics
