// Both rules of async_cost(), for at least one lane. `from` are the global addresses.
#pragma once

#include <cstdint>

#include "metrics/counting/access_lanes.h"
#include "metrics/counting/counting_rules.h"

namespace warpgauge::metrics {

/// Of async_copy.
AsyncCost copy_through_l1(const SharedAccess& to, const std::uint64_t* from);

/// Of async_copy_bypass.
AsyncCost copy_past_l1(const SharedAccess& to, const std::uint64_t* from);

}  // namespace warpgauge::metrics
