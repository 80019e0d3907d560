#include "harness/programs/run_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <regex>
#include <stdexcept>
#include <utility>

#include "harness/files/colour.h"
#include "harness/files/demangled.h"
#include "harness/files/printable.h"
#include "harness/files/temporary_path.h"
#include "harness/outcome/out_folder.h"
#include "harness/outcome/outcome_text.h"
#include "harness/outcome/recorded_run.h"
#include "harness/process/child_program.h"
#include "harness/programs/program_text.h"
#include "harness/provenance.h"
#include "metrics/budget.h"
#include "metrics/glob.h"
#include "metrics/judge.h"

namespace warpgauge::programs {
namespace {

namespace fs = std::filesystem;

std::regex kernel_expression(const std::string& text) {
  try {
    return std::regex(text);
  } catch (const std::regex_error& error) {
    throw std::invalid_argument(
        fmt::format("--kernels '{}': not a regular expression: {}", text, error.what()));
  }
}

/// Takes away the kernels that --skip names; a line for each of its globs.
std::string leave_out_skipped(const ProgramOptions& options, std::vector<ProgramCase>* cases) {
  std::string text;
  for (const std::string& glob : options.choice.skip) {
    std::size_t kernels = 0, launches = 0;
    std::erase_if(*cases, [&](const ProgramCase& one) {
      if (!metrics::fits(glob, files::names_of(one.kernel))) return false;
      ++kernels;
      launches += one.launches;
      return true;
    });
    text += skipped_text(glob, launches, kernels);
  }
  return text;
}

/// Takes away the kernels that were first launched beyond --limit-launches; a line if there are
/// any.
std::string leave_out_late(const ProgramOptions& options, std::vector<ProgramCase>* cases) {
  std::uint64_t counted = 0;
  for (const ProgramCase& one : *cases) counted += one.counted;
  if (options.choice.limit == 0 || counted < options.choice.limit) return "";
  std::size_t launches = 0;
  const std::size_t kernels = std::erase_if(*cases, [&](const ProgramCase& one) {
    launches += one.counted == 0 ? one.launches : 0;
    return one.counted == 0;
  });
  return kernels == 0 ? "" : late_text(options.choice.limit, launches, kernels);
}

/// The kernels to judge, with all that is to be said of the others.
struct Selected {
  std::vector<ProgramCase> cases;
  std::vector<std::string> lost;  ///< what was not measured, a sentence each
  std::string left_out;           ///< what options left out, in lines
};

Selected select_kernels(const ProgramOptions& options, const Source& source,
                        const metrics::Budgets& budgets, const Counted& counted) {
  const std::regex kernels = kernel_expression(options.kernels);
  Selected selected{.cases =
                        cases_of(source.counter(), options.command[0], counted.kernels, budgets)};
  selected.lost = unused_sections(options, budgets, selected.cases);
  const std::size_t launched = selected.cases.size();
  selected.left_out = leave_out_skipped(options, &selected.cases);
  selected.left_out += leave_out_late(options, &selected.cases);
  const std::size_t kept = selected.cases.size();
  std::erase_if(selected.cases, [&](const ProgramCase& one) { return !one.is_called(kernels); });
  std::ranges::copy(counted.lost, std::back_inserter(selected.lost));
  std::ranges::move(not_counted(selected.cases, options.choice.is_partial()),
                    std::back_inserter(selected.lost));
  if (selected.cases.empty() && counted.faults.empty()) {
    selected.lost.push_back(why_nothing(options, launched, kept, counted.why_no_kernel));
  }
  return selected;
}

/// Judges the facts of the kernels, writes them, and works out the outcome.
std::unique_ptr<outcome::Outcome> judged(const ProgramOptions& options, const Source& source,
                                         Selected& selected, metrics::Run run,
                                         std::vector<metrics::Fact> faults,
                                         const outcome::OutFolder& out) {
  outcome::RecordedRun recorded(std::move(run), out.facts());
  const auto today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  for (ProgramCase& one : selected.cases) {
    recorded.add_device(one.device);
    const metrics::References references(one.facts);
    for (metrics::Fact& fact : one.facts) metrics::judge(fact, one.budgets, today, references);
    recorded.add(std::move(one.facts));
  }
  recorded.add(std::move(faults));
  return recorded.end({.requirements = {.strict = options.strict, .ptxas = true, .cupti = true},
                       .lost = selected.lost,
                       .repeat =
                           [&](const outcome::JudgedValue& value) {
                             return repeat_program(source, options, *value.fact);
                           },
                       .kernels = true},
                      out.results());
}

metrics::Asked asked_of(const ProgramOptions& options, const Source& source) {
  metrics::Asked asked = source.asked();
  asked.require = {"ptxas", "cupti"};
  asked.strict = options.strict;
  return asked;
}

}  // namespace

outcome::ExitCode run_program(const ProgramOptions& options, const Source& source) {
  metrics::Budgets budgets;
  if (!options.budgets.empty()) budgets = metrics::Budgets::load_unregistered(options.budgets);
  if (!options.project.empty()) {
    budgets.rest_on(metrics::Budgets::load_project(options.project, options.project.string()));
  }
  kernel_expression(options.kernels);  // refused before the program runs
  const outcome::OutFolder out(options.out);
  const files::TemporaryPath left =
      files::TemporaryPath::folder_in(out.path(), std::string(outcome::kFolderOfOneRun));
  metrics::Run run =
      start_run_of_other(fs::current_path().string(), std::string(source.counter().command),
                         asked_of(options, source));

  std::map<std::string, std::string> variables = options.choice.variables();
  variables.merge(source.variables(fs::absolute(left.path())));
  const process::Ending ending = process::run_to_its_end(options.command, variables);
  Counted counted = source.counted(options.command[0], left.path());
  Selected selected = select_kernels(options, source, budgets, counted);
  std::vector<metrics::Fact> faults = std::move(counted.faults);
  const bool shows = !selected.cases.empty() || !faults.empty();
  if (ending.exit_code() != 0) {
    const std::string failure =
        fmt::format("the program itself failed: {} {}", options.command[0], ending.str());
    faults.push_back(program_failure(source.counter(), options.command[0], failure));
    if (!shows) selected.lost.push_back(failure);
  }
  if (!shows) {
    for (const std::string& one : selected.lost) fmt::print(stderr, "{}\n", files::printable(one));
    return faults.empty() ? outcome::kNotMeasured : outcome::kFault;
  }
  const std::string table = kernels_table(selected.cases);
  const auto outcome = judged(options, source, selected, std::move(run), std::move(faults), out);
  out.write_summary(outcome::markdown_text(*outcome));
  fmt::print(stderr, "{}{}\n{}facts: {}\nresults: {}\nsummary: {}\n", table, selected.left_out,
             outcome::terminal_text(*outcome, files::may_be_coloured(STDERR_FILENO)),
             out.facts().string(), out.results().string(), out.summary().string());
  return outcome->exit_code();
}

}  // namespace warpgauge::programs
