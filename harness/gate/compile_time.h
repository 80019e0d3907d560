// The compile-time facts of a gate, for the architectures whose code does not run in it.
#pragma once

#include <string>

#include "harness/gate/fact_log.h"
#include "harness/gate/plan.h"

namespace warpgauge::gate {

/// Writes the compile-time facts of all cases, apart from those of the architectures whose code
/// runs: a run writes these itself.
void measure_compile_time(const Plan& plan, FactLog& log);

/// Writes those of one case on `arch`.
void write_compile_time_facts(const Case& measured, const std::string& arch, FactLog& log);

}  // namespace warpgauge::gate
