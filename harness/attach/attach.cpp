#include "harness/attach/attach.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <stdexcept>

#include "harness/attach/attached_facts.h"
#include "harness/attach/launch_count.h"
#include "harness/build_info.h"
#include "harness/files/colour.h"
#include "harness/files/demangled.h"
#include "harness/files/printable.h"
#include "harness/files/temporary_path.h"
#include "harness/outcome/out_folder.h"
#include "harness/outcome/outcome_text.h"
#include "harness/outcome/recorded_run.h"
#include "harness/outcome/repeat_command.h"
#include "harness/process/child_program.h"
#include "harness/process/program_name.h"
#include "harness/provenance.h"
#include "metrics/budget.h"
#include "metrics/glob.h"
#include "metrics/judge.h"

namespace warpgauge {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInjection = "CUDA_INJECTION64_PATH";

/// Adds what a process has launched since its result was written.
void tell_of_the_end(AttachedProcess& process, std::uint64_t launches) {
  std::uint64_t taken = 0;
  for (const AttachedKernel& kernel : process.kernels) taken += kernel.launches;
  taken -= std::min(taken, process.waiting);
  if (kill(static_cast<pid_t>(process.pid), 0) == 0) {
    process.warnings.push_back("what it launches now: it still runs, and nobody waited for it");
  } else if (launches > taken) {
    process.warnings.push_back(
        fmt::format("{} launches, whose counts were not taken before it ended (by _exit, exec, an "
                    "error or a signal that cannot be caught)",
                    launches - taken));
  }
}

/// What the processes have left in the folder.
std::vector<AttachedProcess> results_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == kLaunchesEnding) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<AttachedProcess> processes;
  for (const fs::path& file : files) {
    const fs::path result = fs::path(file).replace_extension(kProcessEnding);
    std::ifstream stream(result, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    processes.push_back(parse_attached(text, result.string()));
    tell_of_the_end(processes.back(), LaunchCount::of(file).value_or(0));
  }
  return processes;
}

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
        fmt::format("--kernels '{}': no regular expression: {}", text, error.what()));
  }
}

/// Cut where it would fill the screen: names of templates can have thousands of characters.
std::string shortened(const std::string& name) {
  constexpr std::size_t kLongest = 160;
  const std::string text = printable(name);
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

/// The sections of the budget file that fit no kernel, a sentence each.
std::vector<std::string> unused_sections(const AttachOptions& options,
                                         const metrics::Budgets& budgets,
                                         const std::vector<AttachedCase>& cases) {
  std::vector<std::string> unused;
  for (const std::string& section : budgets.section_names()) {
    const auto fits = [&](const AttachedCase& one) { return metrics::fits(section, one.names()); };
    if (std::ranges::any_of(cases, fits)) continue;
    unused.push_back(
        fmt::format("{}: no kernel fits section '{}'", options.budgets.string(), section));
  }
  return unused;
}

/// Takes away the kernels that --skip names; says which they were, in lines.
std::string leave_out_skipped(const AttachOptions& options, std::vector<AttachedCase>* cases) {
  std::string text;
  for (const std::string& glob : options.skip) {
    std::size_t kernels = 0, launches = 0;
    std::erase_if(*cases, [&](const AttachedCase& one) {
      if (!metrics::fits(glob, names_of(one.kernel))) return false;
      ++kernels;
      launches += one.launches;
      return true;
    });
    text += fmt::format("skipped: {} launches of {} kernel{} (--skip {})\n", launches, kernels,
                        kernels == 1 ? "" : "s", shell_word(printable(glob)));
  }
  return text;
}

/// What was launched and not counted, a sentence each.
std::vector<std::string> not_counted(const std::vector<AttachedProcess>& processes,
                                     const std::vector<AttachedCase>& cases, bool samples) {
  std::vector<std::string> lost;
  for (const AttachedProcess& process : processes) {
    for (const std::string& warning : process.warnings) {
      lost.push_back(
          fmt::format("not counted: {} (process {}: {})", warning, process.pid, process.command));
    }
  }
  for (const AttachedCase& one : cases) {
    if (!samples && one.counted != one.launches) {
      lost.push_back(fmt::format("not counted: {} of {} launches of {}", one.launches - one.counted,
                                 one.launches, shortened(one.kernel)));
    }
    // Of one with no counts at all, its values say so.
    if (one.counted_warps != 0 && one.warps != 0 && one.counted_warps != one.warps) {
      lost.push_back(fmt::format("miscounted: {} warps were launched of {}, and {} counted",
                                 one.warps, shortened(one.kernel), one.counted_warps));
    }
  }
  return lost;
}

/// Why there is no kernel to tell of.
std::string why_nothing(const AttachOptions& options, std::size_t launched, std::size_t all,
                        bool never_loaded) {
  if (launched > 0 && all == 0) return fmt::format("--skip leaves none of {} kernels", launched);
  if (all > 0) {
    return fmt::format("--kernels '{}': none of {} kernels fits", options.kernels, all);
  }
  if (never_loaded) {
    return fmt::format(
        "{}: CUDA was never initialised with the library: it uses no GPU, or does not hand on {}",
        options.command[0], kInjection);
  }
  return fmt::format("{}: no kernel was launched", options.command[0]);
}

std::string launches_text(const AttachedCase& one) {
  return one.counted == one.launches ? std::to_string(one.launches)
                                     : fmt::format("{} of {}", one.counted, one.launches);
}

/// "12", or "-" where it was not counted.
std::string value_of(const AttachedCase& one, std::string_view metric) {
  for (const metrics::Fact& fact : one.facts) {
    if (fact.scope == metrics::Scope::whole_case && fact.metric == metric) {
      const bool there = !std::holds_alternative<std::monostate>(fact.value);
      return there ? metrics::to_text(fact.value) : "-";
    }
  }
  return "-";
}

/// The regular expression that finds this text.
std::string literally(const std::string& text) {
  constexpr std::string_view kSpecial = R"(^$\.*+?()[]{}|)";
  std::string expression;
  for (const char c : text) {
    if (kSpecial.find(c) != kSpecial.npos) expression += '\\';
    expression += c;
  }
  return expression;
}

/// The command that gives the verdict on this kernel again.
std::string repeat_command(const AttachOptions& options, const metrics::Fact& fact) {
  std::string command = program_name() + " attach";
  if (!fact.kernel.empty()) {
    command += " --kernels " + shell_word(literally(plain_name(demangled(fact.kernel))));
  }
  if (!options.budgets.empty()) command += " --budgets " + shell_word(options.budgets.string());
  if (options.sample > 0) command += fmt::format(" --sample {}", options.sample);
  for (const std::string& glob : options.skip) command += " --skip " + shell_word(glob);
  if (options.strict) command += " --strict";
  command += " --";
  for (const std::string& argument : options.command) command += ' ' + shell_word(argument);
  return command;
}

/// What the kernels did, those with most launches first.
std::string table(const std::vector<AttachedCase>& cases) {
  constexpr std::size_t kShown = 40;
  std::string text = fmt::format("{:>9} {:>4} {:>12} {:>14} {:>12}  {}\n", "launches", "regs",
                                 "conflicts", "excess sectors", "local", "kernel");
  for (std::size_t i = 0; i < std::min(kShown, cases.size()); ++i) {
    const AttachedCase& one = cases[i];
    fmt::format_to(std::back_inserter(text), "{:>9} {:>4} {:>12} {:>14} {:>12}  {}\n",
                   launches_text(one), value_of(one, "registers"),
                   value_of(one, "shared.bank_conflicts"), value_of(one, "global.excess_sectors"),
                   value_of(one, "local.sectors"), shortened(one.kernel));
  }
  if (cases.size() > kShown) {
    fmt::format_to(std::back_inserter(text), "and {} more, see facts.jsonl\n",
                   cases.size() - kShown);
  }
  return text;
}

}  // namespace

ExitCode attach_to_program(const AttachOptions& options) {
  const fs::path library = injected_library();
  const metrics::Budgets budgets = options.budgets.empty()
                                       ? metrics::Budgets()
                                       : metrics::Budgets::load_unregistered(options.budgets);
  const std::regex kernels = kernel_expression(options.kernels);
  const OutFolder out(options.out);
  const TemporaryPath results = TemporaryPath::folder_in(out.path(), ".attached-");
  metrics::Run run = start_run(fs::current_path().string());
  run.command = "attach";
  run.asked.strict = options.strict;

  std::map<std::string, std::string> variables = {{kInjection, library.string()},
                                                  {kAttachFolder, results.path().string()}};
  if (options.sample > 0) variables[kAttachSample] = std::to_string(options.sample);
  if (!options.skip.empty())
    variables[kAttachSkip] = fmt::format("{}", fmt::join(options.skip, "\n"));
  const Ending ending = run_to_its_end(options.command, variables);

  const std::vector<AttachedProcess> processes = results_in(results.path());
  std::vector<AttachedCase> cases =
      attached_cases(options.command[0], processes, results.path(), budgets);
  std::vector<std::string> lost = unused_sections(options, budgets, cases);
  const std::size_t launched = cases.size();
  const std::string skipped = leave_out_skipped(options, &cases);
  const std::size_t all = cases.size();
  std::erase_if(cases, [&](const AttachedCase& one) { return !one.is_called(kernels); });
  std::ranges::move(not_counted(processes, cases, options.sample > 0), std::back_inserter(lost));
  if (cases.empty()) lost.push_back(why_nothing(options, launched, all, processes.empty()));
  const std::string failure =
      ending.exit_code() == 0
          ? ""
          : fmt::format("the program itself failed: {} {}", options.command[0], ending.str());
  if (cases.empty()) {
    if (!failure.empty()) lost.push_back(failure);
    for (const std::string& one : lost) fmt::print(stderr, "{}\n", printable(one));
    return failure.empty() ? kNotMeasured : kFault;
  }

  const std::string launches = table(cases);
  RecordedRun recorded(run, out.facts());
  const auto today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  for (AttachedCase& one : cases) {
    recorded.add_device(one.device);
    for (metrics::Fact& fact : one.facts) {
      metrics::judge(fact, one.budgets, today);
      recorded.add(std::move(fact));
    }
  }
  if (!failure.empty()) recorded.add(program_failure(options.command[0], failure));
  OutcomeOptions how{
      .requirements = {.strict = options.strict, .ptxas = true, .cupti = true},
      .lost = lost,
      .repeat = [&](const JudgedValue& value) { return repeat_command(options, *value.fact); },
      .kernels = true};
  const auto outcome = recorded.end(how, out.results());
  fmt::print(stderr, "{}{}\n{}facts: {}\nresults: {}\nsummary: {}\n", launches, skipped,
             terminal_text(*outcome, may_be_coloured(STDERR_FILENO)), out.facts().string(),
             out.results().string(), out.summary().string());
  out.write_summary(markdown_text(*outcome));
  return outcome->exit_code();
}

}  // namespace warpgauge
