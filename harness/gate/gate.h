// The gate: runs everything this machine can measure, isolated, and says go or no-go.
#pragma once

#include "harness/gate/gate_options.h"
#include "harness/outcome/exit_code.h"

namespace warpgauge::gate {

/// Runs the gate; prints progress to stderr and the summary to stdout. Throws on bad budgets, bad
/// options and anything else that stops it before it can judge.
outcome::ExitCode run_gate(const GateOptions& options);

}  // namespace warpgauge::gate
