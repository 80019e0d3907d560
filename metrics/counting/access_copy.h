// The two rules of async_cost(), for accesses with at least one lane. `from` are the global
// addresses.
#pragma once

#include <cstdint>

#include "metrics/counting/access_lanes.h"
#include "metrics/counting/counting_rules.h"

namespace warpgauge::metrics {

/// The cost of async_copy (cp.async.ca).
AsyncCost copy_through_l1(const SharedAccess& to, const std::uint64_t* from);

/// The cost of async_copy_bypass (cp.async.cg).
AsyncCost copy_past_l1(const SharedAccess& to, const std::uint64_t* from);

}  // namespace warpgauge::metrics
