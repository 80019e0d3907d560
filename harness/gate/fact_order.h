// The order of a gate's facts.
#pragma once

#include <vector>

#include "harness/cases/registry.h"
#include "metrics/facts/fact.h"

namespace warpgauge::gate {

/// Sorts facts in an order that does not depend on which of several processes was the first: facts
/// that are known without a run, then the rest, both by architecture and then as the program lists
/// its cases.
void sort_by_case(std::vector<metrics::Fact>& facts, const Cases& cases);

}  // namespace warpgauge::gate
