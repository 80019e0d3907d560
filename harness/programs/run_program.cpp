// Runs a program with a library in it that counts, and judges what was counted.
#include "harness/programs/run_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <iterator>
#include <regex>
#include <stdexcept>
#include <utility>

#include "harness/files/printable.h"
#include "harness/files/temporary_path.h"
#include "harness/outcome/out_folder.h"
#include "harness/process/child_program.h"
#include "harness/programs/program_sources.h"
#include "harness/programs/program_text.h"
#include "harness/programs/program_watch.h"
#include "metrics/base/demangled.h"
#include "metrics/base/glob.h"
#include "metrics/budgets/budget.h"
#include "metrics/budgets/judge.h"
#include "metrics/budgets/waiver_use.h"

namespace warpgauge::programs {
namespace {

namespace fs = std::filesystem;

/// Takes away the kernels that --skip names; a line for each of its globs.
std::string leave_out_skipped(const ProgramOptions& options, std::vector<ProgramCase>* cases) {
  std::string text;
  for (const std::string& glob : options.choice.skip) {
    std::size_t kernels = 0, launches = 0;
    std::erase_if(*cases, [&](const ProgramCase& program_case) {
      if (!metrics::fits(glob, metrics::names_of(program_case.kernel))) return false;
      ++kernels;
      launches += program_case.launches;
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
  for (const ProgramCase& program_case : *cases) counted += program_case.counted;
  if (options.choice.limit == 0 || counted < options.choice.limit) return "";
  std::size_t launches = 0;
  const std::size_t kernels = std::erase_if(*cases, [&](const ProgramCase& program_case) {
    launches += program_case.counted == 0 ? program_case.launches : 0;
    return program_case.counted == 0;
  });
  return kernels == 0 ? "" : late_text(options.choice.limit, launches, kernels);
}

/// The kernels to report, with all that is to be said of the others.
struct Selected {
  std::vector<ProgramCase> cases;
  Beside beside;
};

/// Takes away what checks have found in kernels that --kernels and --skip leave out; a sentence if
/// there is any.
std::vector<std::string> leave_out_findings(const ProgramOptions& options,
                                            const std::regex& expression,
                                            std::vector<metrics::Fact>* faults) {
  const std::size_t findings = std::erase_if(*faults, [&](const metrics::Fact& fault) {
    if (fault.rule.empty() || fault.kernel.empty()) return false;
    const std::string kernel = metrics::demangled(fault.kernel);
    const bool is_skipped = std::ranges::any_of(options.choice.skip, [&](const auto& glob) {
      return metrics::fits(glob, metrics::names_of(kernel));
    });
    return is_skipped || !is_called(kernel, expression);
  });
  if (findings == 0) return {};
  return {fmt::format("{} finding{} in kernels that --kernels or --skip leaves out: {} nothing",
                      findings, findings == 1 ? "" : "s",
                      findings == 1 ? "it decides" : "they decide")};
}

/// Judges the faults: findings of checks may be waived.
void judge_faults(std::vector<metrics::Fact>& faults, const metrics::Budgets& budgets,
                  metrics::WaiverUse& use) {
  for (metrics::Fact& fault : faults) {
    std::vector<std::string> names = metrics::names_of(metrics::demangled(fault.kernel));
    names.push_back(fault.id.variant);
    const metrics::Budgets own = budgets.of_kernel(fault.id, names);
    metrics::judge(fault, own, metrics::today());
    use.add(own.waivers(fault.id, fault.arch), fault);
  }
}

Selected select_kernels(const ProgramOptions& options, const Source& source,
                        const metrics::Budgets& budgets, Counted counted) {
  const std::regex expression = kernel_expression(options.kernels);
  std::vector<ProgramCase> cases =
      cases_of(source.counter(), options.command[0], counted.kernels, budgets);
  UnusedSections unused(options, budgets);
  metrics::WaiverUse waivers;
  for (const ProgramCase& program_case : cases) {
    unused.use(program_case);
    if (program_case.facts.empty()) continue;
    const metrics::Fact& ran = program_case.facts.front();
    waivers.add(program_case.budgets.waivers(ran.id, ran.arch), ran);
  }
  std::vector<std::string> lost = unused.text();
  const std::size_t launched = cases.size();
  const std::string skipped = leave_out_skipped(options, &cases);
  const std::string late = leave_out_late(options, &cases);
  const std::size_t kept = cases.size();
  std::erase_if(cases, [&](const ProgramCase& program_case) {
    return !is_called(program_case.kernel, expression);
  });
  std::ranges::move(counted.lost, std::back_inserter(lost));
  std::ranges::move(not_counted(cases, options.choice.is_partial()), std::back_inserter(lost));
  std::vector<std::string> left_out = leave_out_findings(options, expression, &counted.faults);
  judge_faults(counted.faults, budgets, waivers);
  std::vector<std::string> remarks = std::move(counted.remarks);
  if (options.kernels.empty() && options.choice.skip.empty()) {
    std::ranges::move(waivers.unused(source.checks()), std::back_inserter(remarks));
  }
  if (cases.empty() && std::ranges::all_of(counted.faults, metrics::is_waived_finding)) {
    lost.push_back(why_nothing(options, launched, kept, counted.why_no_kernel));
  }
  std::string text = kernels_table(cases) + unequal_text(cases) + skipped + late;
  return {.cases = std::move(cases),
          .beside = {.faults = std::move(counted.faults),
                     .lost = std::move(lost),
                     .left_out = std::move(left_out),
                     .remarks = std::move(remarks),
                     .text = std::move(text),
                     .repeat = [&](const metrics::Fact& fact) {
                       return repeat_program(source, options, fact);
                     }}};
}

metrics::RunRequest asked_of(const ProgramOptions& options, const Source& source) {
  metrics::RunRequest asked = source.asked();
  asked.require = {"cubin", "counts"};
  asked.strict = options.strict;
  return asked;
}

/// A program that ended, with its counts.
struct EndedProgram {
  process::Ending ending;
  Counted counted;
};

/// The time for processes that a program has left behind to end.
constexpr std::chrono::seconds kPatience{60};

/// Of a program whose output is kept in a file.
constexpr std::uintmax_t kMostOutput = 256 << 20;

/// Names the sources relative to the folder of the run's sources, which is found here.
void name_sources(metrics::Run& run, Counted& counted) {
  files::SourceFolder folder(run.source_root);
  for (const CountedKernel& kernel : counted.kernels) add_sources(folder, kernel);
  for (const metrics::Fact& fault : counted.faults) add_sources(folder, fault);
  run.source_root = folder.path();
  for (CountedKernel& kernel : counted.kernels) name_from(run.source_root, kernel);
  for (metrics::Fact& fault : counted.faults) name_from(run.source_root, fault);
}

std::string left_behind_text(const std::string& process) {
  return fmt::format(
      "{} still ran {} s after the program, and was ended: wait for it in the program, or start it "
      "beforehand",
      process, kPatience.count());
}

EndedProgram run_counted(const std::vector<std::string>& command, const Source& source,
                         std::map<std::string, std::string> variables, const fs::path& folder,
                         const process::OutputFiles& outputs = {},
                         process::Supervision supervision = {}) {
  const files::TemporaryPath left =
      files::TemporaryPath::folder_in(folder, std::string(outcome::kFolderOfOneRun));
  const fs::path place = fs::absolute(left.path());
  variables.merge(source.variables(place));
  ProgramWatch watch(place, std::move(variables));
  supervision.patience = kPatience;
  supervision.look = [&](const auto& processes) { watch.look(processes); };
  const process::Ending ending =
      process::run_supervised(command, watch.variables(), outputs, supervision);
  Counted counted = source.counted(command[0], place);
  std::ranges::move(watch.uncounted(), std::back_inserter(counted.lost));
  for (const std::string& process : ending.left) counted.lost.push_back(left_behind_text(process));
  return {ending, std::move(counted)};
}

/// The last lines of what a program wrote, indented.
std::string last_lines_of(const fs::path& output) {
  constexpr std::size_t kLines = 10;
  std::deque<std::string> lines;
  std::ifstream in(output);
  for (std::string line; std::getline(in, line);) {
    lines.push_back("\n  " + files::printable(line));
    if (lines.size() > kLines) lines.pop_front();
  }
  return fmt::format("{}", fmt::join(lines, ""));
}

/// Throws std::runtime_error with the first that is wrong.
void require_whole(const EndedProgram& ended, const fs::path& output) {
  const auto& [ending, counted] = ended;
  if (!counted.faults.empty()) throw std::runtime_error(counted.faults.front().reason);
  if (ending.exit_code() != 0) {
    throw std::runtime_error(fmt::format("it {}{}", ending.str(), last_lines_of(output)));
  }
  if (!counted.lost.empty()) throw std::runtime_error(counted.lost.front());
  if (counted.kernels.empty()) {
    throw std::runtime_error(counted.why_no_kernel + last_lines_of(output));
  }
}

}  // namespace

outcome::ExitCode run_program(const ProgramOptions& options, const Source& source) {
  const metrics::Budgets budgets = budgets_of(options);
  kernel_expression(options.kernels);  // refused before the program runs
  const outcome::OutFolder out(options.out, source.reads());
  metrics::Run run =
      start_run_of_other(fs::current_path().string(), std::string(source.counter().command),
                         asked_of(options, source));

  auto [ending, counted] =
      run_counted(options.command, source, options.choice.variables(), out.path());
  name_sources(run, counted);
  auto [cases, beside] = select_kernels(options, source, budgets, std::move(counted));
  const bool failed = ending.exit_code() != 0;
  const bool shows = !cases.empty() || !beside.faults.empty();
  if (failed) {
    const std::string failure =
        fmt::format("the program itself failed: {} {}", options.command[0], ending.str());
    if (shows) {
      beside.faults.push_back(program_failure(source.counter(), options.command[0], failure));
      if (ending.signal == 0) beside.faults.back().cure = source.cure();
    } else {
      beside.lost.push_back(failure);
    }
  }
  KernelJudge judge(std::move(run), out);
  for (ProgramCase& program_case : cases) judge.add(std::move(program_case));
  const auto code = judge.end(std::move(beside), stderr);
  return failed ? outcome::worse(code, outcome::kFault) : code;
}

void record_program(const std::vector<std::string>& command, const Source& source,
                    const fs::path& output, const fs::path& facts, const Compilation& compilation,
                    std::chrono::seconds time_limit) {
  EndedProgram ended =
      run_counted(command, source, {}, facts.parent_path(), {.output = output, .messages = output},
                  {.time_limit = time_limit, .most_output_bytes = kMostOutput});
  require_whole(ended, output);
  for (CountedKernel& kernel : ended.counted.kernels) kernel.source_hash = compilation.source_hash;
  metrics::Run run =
      start_run_of_compiled(std::string(source.counter().command), source.asked(), compilation);
  name_sources(run, ended.counted);
  std::vector<ProgramCase> cases =
      cases_of(source.counter(), command[0], ended.counted.kernels, {});
  const std::vector<std::string> lost = not_counted(cases, false);
  if (!lost.empty()) throw std::runtime_error(lost.front());
  outcome::RecordedRun recorded(std::move(run), facts);
  for (ProgramCase& program_case : cases) {
    recorded.add_device(program_case.device);
    recorded.add(std::move(program_case.facts));
  }
  recorded.end({.requirements = {.judged = false}}, "");
}

}  // namespace warpgauge::programs
