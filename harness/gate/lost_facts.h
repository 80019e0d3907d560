// The facts that should be there at the end of a gate and are not.
#pragma once

#include <vector>

#include "harness/gate/plan.h"
#include "metrics/facts/fact.h"

namespace warpgauge::gate {

/// Errors for cases without a fact that should have one, the last line of defence against a silent
/// pass, and unmeasured facts for times and hardware counters that have a budget and no value.
std::vector<metrics::Fact> lost_facts(const Plan& plan, const std::vector<metrics::Fact>& facts);

}  // namespace warpgauge::gate
