#include "harness/programs/run_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <regex>
#include <utility>

#include "harness/files/demangled.h"
#include "harness/files/temporary_path.h"
#include "harness/outcome/out_folder.h"
#include "harness/process/child_program.h"
#include "harness/programs/program_text.h"
#include "harness/provenance.h"
#include "metrics/budget.h"
#include "metrics/glob.h"

namespace warpgauge::programs {
namespace {

namespace fs = std::filesystem;

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

/// The kernels to report, with all that is to be said of the others.
struct Selected {
  std::vector<ProgramCase> cases;
  Beside beside;
};

Selected select_kernels(const ProgramOptions& options, const Source& source,
                        const metrics::Budgets& budgets, Counted counted) {
  const std::regex expression = kernel_expression(options.kernels);
  std::vector<ProgramCase> cases =
      cases_of(source.counter(), options.command[0], counted.kernels, budgets);
  UnusedSections unused(options, budgets);
  for (const ProgramCase& one : cases) unused.use(one);
  std::vector<std::string> lost = unused.text();
  const std::size_t launched = cases.size();
  const std::string skipped = leave_out_skipped(options, &cases);
  const std::string late = leave_out_late(options, &cases);
  const std::size_t kept = cases.size();
  std::erase_if(cases, [&](const ProgramCase& one) { return !one.is_called(expression); });
  std::ranges::move(counted.lost, std::back_inserter(lost));
  std::ranges::move(not_counted(cases, options.choice.is_partial()), std::back_inserter(lost));
  if (cases.empty() && counted.faults.empty()) {
    lost.push_back(why_nothing(options, launched, kept, counted.why_no_kernel));
  }
  std::string text = kernels_table(cases) + skipped + late;
  return {.cases = std::move(cases),
          .beside = {.faults = std::move(counted.faults),
                     .lost = std::move(lost),
                     .text = std::move(text),
                     .repeat = [&](const metrics::Fact& fact) {
                       return repeat_program(source, options, fact);
                     }}};
}

metrics::Asked asked_of(const ProgramOptions& options, const Source& source) {
  metrics::Asked asked = source.asked();
  asked.require = {"ptxas", "cupti"};
  asked.strict = options.strict;
  return asked;
}

}  // namespace

outcome::ExitCode run_program(const ProgramOptions& options, const Source& source) {
  const metrics::Budgets budgets = budgets_of(options);
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
  auto [cases, beside] =
      select_kernels(options, source, budgets, source.counted(options.command[0], left.path()));
  const bool failed = ending.exit_code() != 0;
  const bool shows = !cases.empty() || !beside.faults.empty();
  if (failed) {
    const std::string failure =
        fmt::format("the program itself failed: {} {}", options.command[0], ending.str());
    if (shows) {
      beside.faults.push_back(program_failure(source.counter(), options.command[0], failure));
    } else {
      beside.lost.push_back(failure);
    }
  }
  KernelJudge judge(std::move(run), out);
  for (ProgramCase& one : cases) judge.add(std::move(one));
  const auto code = judge.end(std::move(beside), stderr);
  return failed ? outcome::worse(code, outcome::kFault) : code;
}

}  // namespace warpgauge::programs
