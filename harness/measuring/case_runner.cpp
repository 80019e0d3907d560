// Launches a case, compares its launches with a dry run, checks its result, and makes its facts.
#include "harness/measuring/case_runner.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>

#include "harness/cases/built_architectures.h"
#include "harness/cases/gpu_only.h"
#include "harness/devices.h"
#include "harness/measuring/blank_facts.h"
#include "harness/measuring/compile_time_facts.h"
#include "harness/measuring/error_facts.h"
#include "harness/measuring/exact_count_facts.h"
#include "harness/measuring/least_traffic.h"
#include "harness/measuring/missing_facts.h"
#include "harness/measuring/nvtx_range.h"
#include "harness/process/fork_guard.h"
#include "metrics/budgets/judge.h"
#include "metrics/cupti/cupti.h"
#include "warpgauge/cuda_error.h"
#include "warpgauge/problem.h"

namespace warpgauge {
namespace {

using metrics::Fact;

/// The distance of the results from the reference; empty if they had to be equal.
std::vector<Fact> error_facts(const Errors& errors, const Fact& correct) {
  std::vector<Fact> facts;
  if (errors.count == 0) return facts;
  facts.push_back(with_value(correct, "result.max_error", errors.max_scaled));
  facts.push_back(with_value(correct, "result.mean_absolute_error", errors.mean_absolute()));
  if (errors.relative_count > 0) {
    facts.push_back(with_value(correct, "result.mean_relative_error", errors.mean_relative()));
  }
  return facts;
}

std::string names_of(const std::vector<LaunchRecord>& launches) {
  std::string names;
  for (const auto& [kernel, launch] : launches) {
    names += fmt::format("{}{} <<<({}), ({}), {}>>> x {}", names.empty() ? "" : ", ", kernel,
                         fmt::join(launch.grid, ","), fmt::join(launch.block, ","),
                         launch.dynamic_shared_bytes, launch.count);
    if (launch.cluster != metrics::kNoCluster) {
      names += fmt::format(" in clusters of ({})", fmt::join(launch.cluster, ","));
    }
  }
  return names.empty() ? "nothing" : names;
}

/// Says how a run differs from what it should be; empty if it does not.
std::string what_is_wrong(const Case& test_case, const std::vector<LaunchRecord>& expected,
                          const std::vector<LaunchRecord>& launches, const Problem& problem,
                          bool may_do_nothing, Comparison& comparison) {
  if (test_case.counted && names_of(launches) != names_of(expected)) {
    return fmt::format(
        "its launches depend on the device: {} here, but {} in a dry run, which compile-time "
        "budgets are held against",
        names_of(launches), names_of(expected));
  }
  if (std::string overwritten = problem.overwritten_input(); !overwritten.empty()) {
    return overwritten;
  }
  problem.check(comparison);
  metrics::check_cuda(cudaGetLastError(), "a call of CUDA in its check()");
  if (!comparison.compared() && !comparison.is_counts_only()) {
    if (may_do_nothing) return "";
    return "its check compares nothing; call counts_only() if this is intended";
  }
  return comparison.passed() ? "" : "wrong result: " + comparison.failure();
}

}  // namespace

CaseRunner::CaseRunner(bool use_counters, const process::GpuTurns* turns) : turns_(turns) {
  print_no_findings();
  no_device_ = why_no_device();
  device_ = current_device();
  if (!device_) {
    no_counters_ = no_device_;
    return;
  }
  if (!use_counters) {
    no_counters_ = "CUPTI was switched off";
    return;
  }
  try {
    counter_ = make_line_counter();
    device_->chip = chip_name();
  } catch (const metrics::Unmeasured& unmeasured) {
    no_counters_ = unmeasured.what();
  }
}

std::string CaseRunner::arch() const { return device_ ? running_arch(*device_) : ""; }

CaseRunner::Launched CaseRunner::launch_once(const Case& test_case, Problem& problem) {
  std::string not_counted = no_counters_;
  if (counter_ && test_case.counted) {
    try {
      problem.reset();
      const LaunchLog log(LaunchLog::Mode::record);
      constexpr std::chrono::seconds kPatience{2};  // another's kernel may hang
      std::optional<process::GpuTurn> turn;
      auto lines = counter_->count(
          [&] {
            if (turns_ != nullptr) turn.emplace(*turns_, kPatience);
            launch_in_range(test_case, problem);
          },
          [&] { turn.reset(); });
      need_counts_of_all(log.launches(), lines);
      std::string too_little = why_too_little(problem.bytes(), log, lines, arch());
      return {log.launches(), std::move(lines), "", std::move(too_little)};
    } catch (const metrics::Unmeasured& unmeasured) {
      not_counted = unmeasured.what();
    }
  }
  problem.reset();
  const LaunchLog log(LaunchLog::Mode::record);
  launch_in_range(test_case, problem);
  WARPGAUGE_CUDA(cudaDeviceSynchronize());
  return {log.launches(), {}, not_counted, ""};
}

std::vector<Fact> CaseRunner::judged_findings(const Case& test_case,
                                              const metrics::Budgets& budgets) const {
  std::vector<Fact> findings;
  for (const metrics::DeviceFault& found : take_findings()) {
    findings.push_back(error_fact(test_case, found, arch()));
    metrics::judge(findings.back(), budgets, metrics::today());
  }
  return findings;
}

CaseRunner::Checked CaseRunner::check(const Case& test_case, const metrics::Budgets& budgets,
                                      bool may_do_nothing) {
  const auto expected =
      test_case.counted ? dry_launches(test_case, may_do_nothing) : std::vector<LaunchRecord>();
  begin_case(test_case.id.str());
  std::unique_ptr<Problem> problem = test_case.problem();
  Launched run = launch_once(test_case, *problem);
  Comparison comparison;
  std::string wrong =
      what_is_wrong(test_case, expected, run.launches, *problem, may_do_nothing, comparison);
  problem.reset();
  find_leaks();
  std::vector<Fact> findings = judged_findings(test_case, budgets), waived;
  const auto of_waived = std::ranges::stable_partition(
      findings, [](const Fact& finding) { return !metrics::is_waived_finding(finding); });
  std::ranges::move(of_waived, std::back_inserter(waived));
  findings.erase(of_waived.begin(), of_waived.end());
  if (!findings.empty()) return {std::move(run), {}, std::move(findings), std::move(waived)};
  if (wrong.empty()) wrong = run.too_little;
  if (!wrong.empty()) {
    Fact fact = error_fact(test_case, std::move(wrong), arch());
    const bool is_wrong = comparison.compared() && !comparison.passed();
    if (is_wrong && could_look_for_races()) fact.cure = kLookForRaces;
    return {std::move(run), {}, {std::move(fact)}, std::move(waived)};
  }
  return {std::move(run), comparison.errors(), {}, std::move(waived)};
}

std::vector<Fact> CaseRunner::measure(const Case& test_case, const metrics::Budgets& budgets) {
  auto [run, distance, wrong, facts] = check(test_case, budgets, false);
  if (!wrong.empty()) {
    std::ranges::move(facts, std::back_inserter(wrong));
    return wrong;
  }
  const Fact blank = launched_fact(test_case, run.launches, arch(), device_->name);
  Fact correct = with_value(blank, "result.correct", 1.0);
  correct.source = "harness";
  correct.confidence = "exact";
  std::ranges::move(error_facts(distance, correct), std::back_inserter(facts));
  facts.push_back(std::move(correct));
  if (!test_case.counted) return facts;
  if (run.not_counted.empty()) {
    std::ranges::move(counted_facts(run.lines, blank, counts_source()), std::back_inserter(facts));
  }
  std::ranges::move(missing_counts(facts, run.not_counted, {blank, budgets}),
                    std::back_inserter(facts));
  return facts;
}

std::vector<Fact> CaseRunner::run(const Case& test_case, const metrics::Budgets& budgets) {
  if (const std::string why = no_device_.empty() ? why_not_run(test_case, arch()) : no_device_;
      !why.empty()) {
    const Fact blank = blank_fact(test_case, arch());
    std::vector<Fact> facts = missing_facts({}, metrics::Source::run, why, {blank, budgets});
    if (!test_case.counted) return facts;
    std::ranges::move(missing_counts({}, why, {blank, budgets}), std::back_inserter(facts));
    return facts;
  }
  return with_errors(test_case, budgets, [&] { return measure(test_case, budgets); });
}

std::vector<Fact> CaseRunner::errors_of(const Case& test_case, const metrics::Budgets& budgets) {
  const bool has_no_elements = test_case.size.count() == 0;
  std::vector<Fact> errors = with_errors(
      test_case, budgets, [&] { return check(test_case, budgets, has_no_elements).wrong; });
  std::erase_if(errors, metrics::is_waived_finding);
  return errors;
}

std::vector<Fact> CaseRunner::with_errors(const Case& test_case, const metrics::Budgets& budgets,
                                          const std::function<std::vector<Fact>()>& work) {
  try {
    std::vector<Fact> facts;
    process::with_fork_guard("the case", [&] { facts = work(); });
    return facts;
  } catch (const metrics::CudaError& error) {
    // Most errors destroy the context; a further call shows whether this one did.
    broken_ = cudaDeviceSynchronize() != cudaSuccess;
    Fact fact = error_fact(test_case, error, take_faults(), arch());
    if (is_emulated() && error.code() == cudaErrorNotSupported) {
      fact.reason += fmt::format(
          ". Register the variant with gpu_only(\"the reason\"), or leave the case out with "
          "--exclude '{}'",
          test_case.id.str());
    }
    std::vector<Fact> facts = judged_findings(test_case, budgets);
    facts.insert(facts.begin(), std::move(fact));
    return facts;
  }
}

process::ItemEnd CaseRunner::end_of_item(bool is_again) const {
  if (!broken_) return process::ItemEnd::done;
  const bool is_its_own = is_again || is_emulated();
  return is_its_own ? process::ItemEnd::done_with_last : process::ItemEnd::again;
}

bool is_gpu_lost() { return !is_emulated() && cudaDeviceSynchronize() != cudaSuccess; }

void need_counts_of_all(const std::vector<LaunchRecord>& launches,
                        const std::vector<metrics::LineCounts>& lines) {
  for (const LaunchRecord& launch : launches) {
    if (std::ranges::find(lines, launch.kernel, &metrics::LineCounts::kernel) == lines.end()) {
      throw metrics::Unmeasured("nothing was counted of the kernel " + launch.kernel,
                                "Run it again; if it stays so, report it with this message");
    }
  }
}

void launch_in_range(const Case& test_case, Problem& problem) {
  const NvtxRange range(test_case.id.str());
  forget_failed_launches();
  test_case.launch(problem);
  process::end_if_copy();
  WARPGAUGE_CUDA(cudaGetLastError());
  refuse_failed_launches();
}

}  // namespace warpgauge
