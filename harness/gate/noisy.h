// The noisy values of a gate: times and hardware counters of the cases that ran well, on a GPU.
#pragma once

#include <memory>

#include "harness/gate/case_job.h"
#include "harness/gate/fact_log.h"
#include "harness/gate/plan.h"

namespace warpgauge::gate {

/// Starts a process that plans hardware counters of all cases, which takes a while.
std::unique_ptr<CaseJob> start_noisy(const Plan& plan, FactLog& log);

/// Measures the cases whose results are right.
void measure_noisy(const Plan& plan, FactLog& log, CaseJob& started);

}  // namespace warpgauge::gate
