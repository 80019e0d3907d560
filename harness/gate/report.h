// The end of a gate: its outcome, worked out from all facts, printed and written.
#pragma once

#include <optional>

#include "harness/gate/fact_log.h"
#include "harness/gate/plan.h"
#include "harness/measuring/coverage_file.h"
#include "harness/outcome/exit_code.h"
#include "harness/outcome/out_folder.h"

namespace warpgauge::gate {

/// Adds what should be there and is not, prints the summary and writes the results.
outcome::ExitCode report(const Plan& plan, FactLog& log, const outcome::OutFolder& out,
                         const std::optional<CoverageFile>& coverage);

}  // namespace warpgauge::gate
