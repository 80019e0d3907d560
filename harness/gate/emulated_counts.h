// The counts of a gate on a GPU whose counters may not be read: the emulated program beside this
// one counts what the same cases do.
#pragma once

#include "harness/gate/fact_log.h"
#include "harness/gate/plan.h"

namespace warpgauge::gate {

/// True if there is a GPU, counts were asked for, may be of the emulator, and its program is there.
bool can_count_emulated(const GateOptions& options);

/// Runs a gate of the emulated program over the same cases, and writes its counts of those that ran
/// well, with the reason where one is missing. Its results are in <out>/emulated, and what it
/// prints in gate.txt there. Throws metrics::FactError, and std::runtime_error if the program
/// cannot be started.
void measure_emulated_counts(const Plan& plan, FactLog& log);

}  // namespace warpgauge::gate
