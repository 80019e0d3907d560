#include "harness/attach/attach.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <regex>
#include <stdexcept>

#include "harness/attach/attach_text.h"
#include "harness/attach/attached_facts.h"
#include "harness/attach/attached_results.h"
#include "harness/build_info.h"
#include "harness/files/colour.h"
#include "harness/files/demangled.h"
#include "harness/files/printable.h"
#include "harness/files/temporary_path.h"
#include "harness/outcome/out_folder.h"
#include "harness/outcome/outcome_text.h"
#include "harness/outcome/recorded_run.h"
#include "harness/process/child_program.h"
#include "harness/provenance.h"
#include "metrics/budget.h"
#include "metrics/glob.h"
#include "metrics/judge.h"

namespace warpgauge::attach {
namespace {

namespace fs = std::filesystem;

fs::path injected_library() {
  const fs::path library(kBuildInfo.injection);
  if (library.empty()) {
    throw std::runtime_error(
        "attach: this warpgauge was built without CUPTI, which counts; install CUDA's CUPTI and "
        "build it again");
  }
  if (!fs::exists(library)) {
    throw std::runtime_error(library.string() + ": not there; build the target injection");
  }
  if (const char* other = std::getenv(kInjection); other != nullptr && *other != '\0') {
    throw std::runtime_error(
        fmt::format("{}={}: another tool is injected already, and CUDA takes one; unset it",
                    kInjection, other));
  }
  return library;
}

std::regex kernel_expression(const std::string& text) {
  try {
    return std::regex(text);
  } catch (const std::regex_error& error) {
    throw std::invalid_argument(
        fmt::format("--kernels '{}': not a regular expression: {}", text, error.what()));
  }
}

/// Takes away the kernels that --skip names; a line for each of its globs.
std::string leave_out_skipped(const AttachOptions& options, std::vector<AttachedCase>* cases) {
  std::string text;
  for (const std::string& glob : options.skip) {
    std::size_t kernels = 0, launches = 0;
    std::erase_if(*cases, [&](const AttachedCase& one) {
      if (!metrics::fits(glob, files::names_of(one.kernel))) return false;
      ++kernels;
      launches += one.launches;
      return true;
    });
    text += skipped_text(glob, launches, kernels);
  }
  return text;
}

/// Runs the program with the library injected; its results go to `folder`.
process::Ending run_attached(const AttachOptions& options, const fs::path& library,
                             const fs::path& folder) {
  std::map<std::string, std::string> variables = {{kInjection, library.string()},
                                                  {kAttachFolder, folder.string()}};
  if (options.sample > 0) variables[kAttachSample] = std::to_string(options.sample);
  if (!options.skip.empty()) {
    variables[kAttachSkip] = fmt::format("{}", fmt::join(options.skip, "\n"));
  }
  return process::run_to_its_end(options.command, variables);
}

/// The kernels to judge, with all that is to be said of the others.
struct Selected {
  std::vector<AttachedCase> cases;
  std::vector<std::string> lost;  ///< what was not measured, a sentence each
  std::string skipped;            ///< what --skip left out, in lines
};

Selected select_kernels(const AttachOptions& options, const metrics::Budgets& budgets,
                        const std::vector<AttachedProcess>& processes, const fs::path& folder) {
  const std::regex kernels = kernel_expression(options.kernels);
  Selected selected{.cases = attached_cases(options.command[0], processes, folder, budgets)};
  selected.lost = unused_sections(options, budgets, selected.cases);
  const std::size_t launched = selected.cases.size();
  selected.skipped = leave_out_skipped(options, &selected.cases);
  const std::size_t kept = selected.cases.size();
  std::erase_if(selected.cases, [&](const AttachedCase& one) { return !one.is_called(kernels); });
  std::ranges::move(not_counted(processes, selected.cases, options.sample > 0),
                    std::back_inserter(selected.lost));
  if (selected.cases.empty()) {
    selected.lost.push_back(why_nothing(options, launched, kept, processes.empty()));
  }
  return selected;
}

/// Judges the facts of the kernels, writes them, and works out the outcome.
std::unique_ptr<outcome::Outcome> judged(const AttachOptions& options, Selected& selected,
                                         metrics::Run run, const std::string& failure,
                                         const outcome::OutFolder& out) {
  outcome::RecordedRun recorded(std::move(run), out.facts());
  const auto today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  for (AttachedCase& one : selected.cases) {
    recorded.add_device(one.device);
    const metrics::References references(one.facts);
    for (metrics::Fact& fact : one.facts) metrics::judge(fact, one.budgets, today, references);
    recorded.add(std::move(one.facts));
  }
  if (!failure.empty()) recorded.add({program_failure(options.command[0], failure)});
  return recorded.end(
      {.requirements = {.strict = options.strict, .ptxas = true, .cupti = true},
       .lost = selected.lost,
       .repeat =
           [&](const outcome::JudgedValue& value) { return repeat_attach(options, *value.fact); },
       .kernels = true},
      out.results());
}

}  // namespace

outcome::ExitCode attach_to_program(const AttachOptions& options) {
  const fs::path library = injected_library();
  metrics::Budgets budgets;
  if (!options.budgets.empty()) budgets = metrics::Budgets::load_unregistered(options.budgets);
  if (!options.project.empty()) {
    budgets.rest_on(metrics::Budgets::load_project(options.project, options.project.string()));
  }
  kernel_expression(options.kernels);  // refused before the program runs
  const outcome::OutFolder out(options.out);
  const files::TemporaryPath results =
      files::TemporaryPath::folder_in(out.path(), std::string(outcome::kFolderOfOneRun));
  metrics::Run run = start_run_of_other(fs::current_path().string(), "attach",
                                        {.require = {"ptxas", "cupti"}, .strict = options.strict});

  const process::Ending ending = run_attached(options, library, results.path());
  Selected selected = select_kernels(options, budgets, results_in(results.path()), results.path());
  const std::string failure =
      ending.exit_code() == 0
          ? ""
          : fmt::format("the program itself failed: {} {}", options.command[0], ending.str());
  if (selected.cases.empty()) {
    if (!failure.empty()) selected.lost.push_back(failure);
    for (const std::string& one : selected.lost) fmt::print(stderr, "{}\n", files::printable(one));
    return failure.empty() ? outcome::kNotMeasured : outcome::kFault;
  }
  const std::string table = kernels_table(selected.cases);
  const auto outcome = judged(options, selected, std::move(run), failure, out);
  out.write_summary(outcome::markdown_text(*outcome));
  fmt::print(stderr, "{}{}\n{}facts: {}\nresults: {}\nsummary: {}\n", table, selected.skipped,
             outcome::terminal_text(*outcome, files::may_be_coloured(STDERR_FILENO)),
             out.facts().string(), out.results().string(), out.summary().string());
  return outcome->exit_code();
}

}  // namespace warpgauge::attach
