// The phases of a gate, in the order of time. Its process never touches CUDA: its children do.
#include "harness/gate/gate.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>

#include "harness/gate/compile_time.h"
#include "harness/gate/emulated_counts.h"
#include "harness/gate/fact_log.h"
#include "harness/gate/fuzzed_runs.h"
#include "harness/gate/noisy.h"
#include "harness/gate/plan.h"
#include "harness/gate/report.h"
#include "harness/gate/runs.h"
#include "harness/measuring/coverage_file.h"
#include "harness/measuring/provenance.h"
#include "harness/measuring/self_test.h"
#include "harness/outcome/out_folder.h"
#include "harness/runtime.h"

namespace warpgauge::gate {
namespace {

metrics::RunRequest request_of(const GateOptions& options) {
  metrics::RunRequest request = {.device = options.device,
                                 .filter = options.selection.filter,
                                 .exclude = options.selection.exclude,
                                 .architectures = options.archs,
                                 .strict = options.requirements.strict,
                                 .large = options.selection.large};
  if (options.requirements.cubin) request.require.emplace_back("cubin");
  if (options.requirements.cupti) request.require.emplace_back("cupti");
  return request;
}

/// Throws std::invalid_argument for what only the emulator can do. There each process that runs
/// cases does it.
void refuse_on_gpu(const GateOptions& options) {
  if (is_emulated()) return;
  if (!options.coverage.empty()) count_coverage();
  check_accesses(options.checks, options.orders);
}

std::optional<CoverageFile> coverage_file(const GateOptions& options) {
  if (options.coverage.empty()) return std::nullopt;
  return std::optional<CoverageFile>(std::in_place, options.coverage);
}

/// Jobs whose processes are started before they are needed, as getting ready for a GPU takes as
/// long as some hundred cases. There are none on the emulator.
struct Workers {
  Workers(const Plan& plan, FactLog& log, Counts counts) {
    if (is_emulated()) return;
    runs = start_runs_on_gpu(plan, log, counts);
    if (plan.not_noisy.empty()) noisy = start_noisy(plan, log);
  }

  std::unique_ptr<CaseJob> runs, noisy;
};

/// Tests the gauge before anything is measured, and says who counts. Throws SelfTestError.
Counts self_test(const Plan& plan) {
  SelfTestOptions options{.archs = plan.archs,
                          .use_counters = plan.options.use_cupti,
                          .time_limit = plan.options.time_limit};
  if (is_emulated()) options.emulated_archs = plan.run_archs;
  const SelfTestResult tested = run_self_test(options);
  fmt::print("{}\n", tested.text);
  const Counts counts = who_counts(tested, plan.options);
  std::fflush(stdout);
  return counts;
}

}  // namespace

outcome::ExitCode run_gate(const GateOptions& options) {
  const outcome::OutFolder out(options.out, options.orders.replay);
  const FamilyBudgets budgets(Registry::instance(), options.project);
  const Plan plan = make_plan(options, budgets);
  refuse_on_gpu(options);
  const std::optional<CoverageFile> coverage = coverage_file(options);
  FactLog log(out.facts(), start_run("gate", request_of(options)), budgets, plan.cases);
  announce(plan);

  auto workers = std::make_unique<Workers>(plan, log, Counts::here);
  const Counts counts = self_test(plan);
  if (counts == Counts::emulated_program) workers = std::make_unique<Workers>(plan, log, counts);

  measure_compile_time(plan, log);
  if (is_emulated()) {
    measure_emulated_runs(plan, log, coverage);
  } else {
    measure_runs_on_gpu(plan, log, *workers->runs);
  }
  if (counts == Counts::emulated_program) measure_emulated_counts(plan, log);
  if (workers->noisy) measure_noisy(plan, log, *workers->noisy);
  measure_fuzzed_runs(plan, log);
  return report(plan, log, out, coverage);
}

}  // namespace warpgauge::gate
