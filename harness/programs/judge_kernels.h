// Judges kernels by their names, and writes the outcome: the common end of `warpgauge attach`,
// `emulate` and `inspect`.
#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <regex>
#include <string>
#include <vector>

#include "harness/outcome/exit_code.h"
#include "harness/outcome/out_folder.h"
#include "harness/programs/program_case.h"
#include "metrics/budget.h"
#include "metrics/fact.h"

namespace warpgauge::programs {

struct JudgeOptions {
  std::filesystem::path budgets;  ///< sections are globs of kernel names; empty: the defaults
  std::filesystem::path project;  ///< budgets of a whole project, below those; empty: none
  std::string kernels;            ///< regular expression of the kernels to report; empty: all
  std::filesystem::path out = "out";
  bool strict = false;  ///< values better than their budget fail
};

/// The kernels to judge, with all that is to be said beside.
struct Kernels {
  std::vector<ProgramCase> cases;
  std::vector<metrics::Fact> faults;
  std::vector<std::string> lost;  ///< what was not measured, a sentence each
  std::string text;               ///< their table, and what options left out, in lines
  std::function<std::string(const metrics::Fact&)> repeat;  ///< the command for a verdict again
};

/// Both files of budgets. Throws metrics::BudgetError.
metrics::Budgets budgets_of(const JudgeOptions& options);

/// The expression of --kernels. Throws std::invalid_argument.
std::regex kernel_expression(const std::string& text);

/// Judges the kernels, writes facts.jsonl, results.json and summary.md, and prints the outcome to
/// `stream`. The requirements are those that `run` was asked for.
outcome::ExitCode judge_kernels(Kernels kernels, metrics::Run run, const outcome::OutFolder& out,
                                std::FILE* stream);

}  // namespace warpgauge::programs
