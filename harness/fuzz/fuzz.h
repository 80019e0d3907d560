// Runs cases at other sizes and with other seeds, and finds the smallest failures.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/fuzz/trial.h"
#include "harness/measuring/case_runner.h"
#include "metrics/counting/device_fault.h"
#include "metrics/facts/fact.h"

namespace warpgauge::fuzz {

/// The metric that says where a case fails.
inline constexpr std::string_view kFailsAt = "result.fails_at";

/// The trials that are asked for.
struct Asked {
  std::size_t trials = 0;          ///< of each case
  std::optional<Trial> only = {};  ///< this one instead, which is not made smaller

  bool any() const { return trials > 0 || only; }
};

/// The cases among these that have trials: of a variant whose problem allows other sizes the
/// largest, as the size of a case limits that of its trials.
Cases cases_to_fuzz(const Cases& cases);

/// How many of them have other seeds alone.
std::size_t count_seeds_alone(const Cases& fuzzed);

/// How the processes of trials work.
struct Processes {
  std::string title;                                            ///< of the progress
  std::function<std::unique_ptr<CaseRunner>()> runner;          ///< is called once in each
  std::function<const metrics::Budgets&(const Case&)> budgets;  ///< whose waivers hold
  std::chrono::seconds time_limit{60};                          ///< for each trial
  std::size_t most = 1;                                         ///< at once
};

/// The failure of a case in its smallest trial.
struct Failure {
  const Case* failed;
  Trial trial;
  metrics::DeviceFault how;
  std::size_t trials_that_fail, trials;  ///< of the case
};

/// Runs all trials of the cases in child processes (worker_pool.h has the conditions), and returns
/// the failures, in the order of the cases, whose problems allow the trial that is asked for.
std::vector<Failure> failures_of(const Cases& cases, const Asked& asked,
                                 const Processes& processes);

/// The fact of a case whose trials as `arch` were run: an error if `failure` is there.
metrics::Fact fact_of(const Case& tried, const std::string& arch, const Failure* failure);

}  // namespace warpgauge::fuzz
