// The runs of a gate at other sizes and with other random values (--fuzz).
#pragma once

#include "harness/gate/fact_log.h"
#include "harness/gate/plan.h"

namespace warpgauge::gate {

/// Runs the cases that are fuzzed, and writes where each fails. One that has an error already is
/// left out, and one that did not run is unmeasured.
void measure_fuzzed_runs(const Plan& plan, FactLog& log);

}  // namespace warpgauge::gate
