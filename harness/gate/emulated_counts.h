// The counts of a gate on a GPU whose counters may not be read: the emulated program beside this
// one counts what the same cases do.
#pragma once

#include "harness/gate/fact_log.h"
#include "harness/gate/plan.h"
#include "harness/gate/runs.h"
#include "harness/measuring/self_test.h"

namespace warpgauge::gate {

/// Who counts: the emulated program where the self test found that the GPU's counters are refused,
/// unless they are required or it is not there. Says so.
Counts who_counts(const SelfTestResult& tested, const GateOptions& options);

/// Runs a gate of the emulated program over the same cases, and writes its counts of those that ran
/// well, with the reason where one is missing. Its results are in <out>/emulated, and what it
/// prints in gate.txt there. Throws metrics::FactError, and std::runtime_error if the program
/// cannot be started.
void measure_emulated_counts(const Plan& plan, FactLog& log);

}  // namespace warpgauge::gate
