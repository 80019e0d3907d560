// The runs of a gate: every case is run, compared with its reference, and counted.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "harness/gate/case_job.h"
#include "harness/gate/fact_log.h"
#include "harness/gate/plan.h"
#include "harness/measuring/case_runner.h"
#include "harness/measuring/coverage_file.h"
#include "harness/process/gpu_turns.h"

namespace warpgauge::gate {

/// Who counts what kernels make the memory system do.
enum class Counts { here, emulated_program };

/// Makes this process, one of `processes` at once, ready to run cases: on the emulator as `arch`,
/// or on the GPU, where that is empty and processes count in turn.
std::unique_ptr<CaseRunner> make_runner(const Plan& plan, const std::string& arch,
                                        std::size_t processes, const process::GpuTurns& turns);

/// Starts processes that get ready for the runs on the GPU.
std::unique_ptr<CaseJob> start_runs_on_gpu(const Plan& plan, FactLog& log, Counts counts);

/// Runs the cases on the GPU. A case that has an error already is left out.
void measure_runs_on_gpu(const Plan& plan, FactLog& log, CaseJob& started);

/// Runs the cases on the emulator, as each architecture. A case that has an error already is left
/// out. Adds what kernels ran to `coverage`, if it is there.
void measure_emulated_runs(const Plan& plan, FactLog& log,
                           const std::optional<CoverageFile>& coverage);

}  // namespace warpgauge::gate
