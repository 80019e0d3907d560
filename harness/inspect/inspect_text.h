// Texts on inspected kernels: their table, and how to repeat a verdict.
#pragma once

#include <string>
#include <vector>

#include "harness/inspect/inspect.h"
#include "harness/programs/program_case.h"

namespace warpgauge::inspect {

/// A row for each kernel and architecture, in the order of `cases`.
std::string resources_table(const std::vector<programs::ProgramCase>& cases);

/// The command that gives the verdict on this kernel again.
std::string repeat_inspect(const InspectOptions& options, const metrics::Fact& fact);

}  // namespace warpgauge::inspect
