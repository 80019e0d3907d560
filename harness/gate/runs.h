// The runs of a gate: every case is run, compared with its reference, and counted.
#pragma once

#include <memory>
#include <optional>

#include "harness/gate/case_job.h"
#include "harness/gate/fact_log.h"
#include "harness/gate/plan.h"
#include "harness/measuring/coverage_file.h"

namespace warpgauge::gate {

/// Who counts what kernels make the memory system do.
enum class Counts { here, emulated_program };

/// Starts processes that get ready for the runs on the GPU.
std::unique_ptr<CaseJob> start_runs_on_gpu(const Plan& plan, FactLog& log, Counts counts);

/// Runs the cases on the GPU. A case that has an error already is left out.
void measure_runs_on_gpu(const Plan& plan, FactLog& log, CaseJob& started);

/// Runs the cases on the emulator, as each architecture. A case that has an error already is left
/// out. Adds what kernels ran to `coverage`, if it is there.
void measure_emulated_runs(const Plan& plan, FactLog& log,
                           const std::optional<CoverageFile>& coverage);

}  // namespace warpgauge::gate
