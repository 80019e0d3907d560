// Judges kernels by their names, and writes the outcome: the common end of `warpgauge attach`,
// `emulate` and `inspect`.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "harness/outcome/exit_code.h"
#include "harness/outcome/out_folder.h"
#include "harness/outcome/recorded_run.h"
#include "harness/outcome/requirements.h"
#include "harness/programs/program_case.h"
#include "metrics/budgets/budget.h"
#include "metrics/facts/fact.h"

namespace warpgauge::programs {

struct JudgeOptions {
  std::filesystem::path budgets;  ///< sections are globs of kernel names; empty: the defaults
  std::filesystem::path project;  ///< budgets of a whole project, below those; empty: none
  std::string kernels;            ///< regular expression of the kernels to report; empty: all
  std::filesystem::path out = "out";
  bool strict = false;  ///< values better than their budget fail
};

/// Faults and gaps that belong to no kernel.
struct Beside {
  std::vector<metrics::Fact> faults;  ///< judged: findings may be waived
  std::vector<std::string> lost;      ///< a sentence for each thing that was not measured
  std::vector<std::string> left_out;  ///< a sentence for each thing that was left out on purpose
  std::vector<std::string> remarks;   ///< a sentence for each thing that decides nothing
  std::string text;                   ///< their table, and what options left out, in lines
  std::function<std::string(const metrics::Fact&)> repeat;  ///< the command for a verdict again
};

/// The budgets of both files. Throws metrics::BudgetError.
metrics::Budgets budgets_of(const JudgeOptions& options);

/// The expression of --kernels. Throws std::invalid_argument.
std::regex kernel_expression(const std::string& text);

/// Judges kernels one after the other, and writes their facts at once.
class KernelJudge {
 public:
  /// The requirements are those that `run` was asked for. `out` must outlive it.
  KernelJudge(metrics::Run run, const outcome::OutFolder& out,
              outcome::Kept kept = outcome::Kept::all);

  void add(ProgramCase program_case);
  std::size_t kernels() const { return kernels_; }  ///< the number of kernels that were added
  /// Writes results.json and summary.md beside facts.jsonl, and prints the outcome to `stream`.
  /// Without kernels and faults there is none, and what was lost is printed to stderr.
  outcome::ExitCode end(Beside beside, std::FILE* stream);

 private:
  outcome::RecordedRun& recorded();

  metrics::Run run_;
  const outcome::OutFolder& out_;
  outcome::Kept kept_;
  outcome::Requirements requirements_;
  std::chrono::sys_days today_;
  std::size_t kernels_ = 0;
  std::optional<outcome::RecordedRun> recorded_;  ///< since the first kernel or fault
};

}  // namespace warpgauge::programs
