// Writes what was counted of a program, for people.
#include "harness/programs/program_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/files/printable.h"
#include "harness/files/shell_word.h"
#include "harness/process/program_name.h"
#include "metrics/base/demangled.h"
#include "metrics/base/glob.h"

namespace warpgauge::programs {
namespace {

std::string launches_text(const ProgramCase& program_case) {
  return program_case.counted == program_case.launches
             ? std::to_string(program_case.launches)
             : fmt::format("{} of {}", program_case.counted, program_case.launches);
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

/// "skipped: 12 launches of 1 kernel (--skip 'nccl*')".
std::string left_out_text(std::string_view how, std::size_t launches, std::size_t kernels,
                          const std::string& option) {
  return fmt::format("{}: {} launches of {} kernel{} ({})\n", how, launches, kernels,
                     kernels == 1 ? "" : "s", option);
}

}  // namespace

std::string shortened(const std::string& name) {
  constexpr std::size_t kLongest = 160;
  const std::string text = files::printable(name);
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

std::string value_of(const ProgramCase& program_case, std::string_view metric) {
  for (const metrics::Fact& fact : program_case.facts) {
    if (fact.scope == metrics::Scope::whole_case && fact.metric == metric) {
      const bool there = !std::holds_alternative<std::monostate>(fact.value);
      return there ? metrics::to_text(fact.value) : "-";
    }
  }
  return "-";
}

std::string kernels_table(const std::vector<ProgramCase>& cases) {
  constexpr std::size_t kShown = 40;
  if (cases.empty()) return "";
  std::string text = fmt::format("{:>9} {:>4} {:>12} {:>14} {:>12}  {}\n", "launches", "regs",
                                 "conflicts", "excess sectors", "local", "kernel");
  for (std::size_t i = 0; i < std::min(kShown, cases.size()); ++i) {
    const ProgramCase& program_case = cases[i];
    text += fmt::format("{:>9} {:>4} {:>12} {:>14} {:>12}  {}\n", launches_text(program_case),
                        value_of(program_case, "registers"),
                        value_of(program_case, "shared.bank_conflicts"),
                        value_of(program_case, "global.excess_sectors"),
                        value_of(program_case, "local.sectors"), shortened(program_case.kernel));
  }
  if (cases.size() > kShown) {
    text += fmt::format("and {} more, see facts.jsonl\n", cases.size() - kShown);
  }
  return text;
}

std::string unequal_text(const std::vector<ProgramCase>& cases) {
  std::string text;
  for (const ProgramCase& program_case : cases) {
    if (!program_case.unequal_sectors) continue;
    const auto [fewest, most] = *program_case.unequal_sectors;
    text += fmt::format(
        "unequal: launches of {} with equal arguments moved {} to {} sectors of global memory\n",
        shortened(program_case.kernel), fewest, most);
  }
  return text;
}

UnusedSections::UnusedSections(const JudgeOptions& options, const metrics::Budgets& budgets)
    : file_(options.budgets.string()), left_(budgets.section_names()) {}

void UnusedSections::use(const ProgramCase& program_case) {
  if (left_.empty()) return;
  const std::vector<std::string> names = program_case.names();
  std::erase_if(left_, [&](const std::string& section) { return metrics::fits(section, names); });
}

std::vector<std::string> UnusedSections::text() const {
  std::vector<std::string> text;
  for (const std::string& section : left_) {
    text.push_back(
        files::printable(fmt::format("{}: no kernel matches section '{}'", file_, section)));
  }
  return text;
}

std::vector<std::string> not_counted(const std::vector<ProgramCase>& cases, bool is_partial) {
  std::vector<std::string> lost;
  for (const ProgramCase& program_case : cases) {
    if (!is_partial && program_case.counted != program_case.launches) {
      lost.push_back(fmt::format("not counted: {} of {} launches of {}",
                                 program_case.launches - program_case.counted,
                                 program_case.launches, shortened(program_case.kernel)));
    }
    // The values of a case with no counts at all say so themselves.
    if (program_case.counted_warps != 0 && program_case.warps != 0 &&
        program_case.counted_warps != program_case.warps) {
      lost.push_back(fmt::format("miscounted: {} warps were launched of {}, and {} counted",
                                 program_case.warps, shortened(program_case.kernel),
                                 program_case.counted_warps));
    }
  }
  return lost;
}

std::string why_nothing(const ProgramOptions& options, std::size_t launched, std::size_t kept,
                        const std::string& why_no_kernel) {
  if (launched > 0 && kept == 0) return fmt::format("--skip leaves none of {} kernels", launched);
  if (kept > 0) {
    return fmt::format("--kernels '{}': matches none of {} kernels", options.kernels, kept);
  }
  return why_no_kernel;
}

std::string skipped_text(const std::string& glob, std::size_t launches, std::size_t kernels) {
  return left_out_text("skipped", launches, kernels,
                       "--skip " + files::shell_word(files::printable(glob)));
}

std::string late_text(std::uint64_t limit, std::size_t launches, std::size_t kernels) {
  return left_out_text("not counted", launches, kernels, fmt::format("--limit-launches {}", limit));
}

std::string judge_options(const JudgeOptions& options, const metrics::Fact& fact) {
  std::string text;
  if (!fact.kernel.empty()) {
    text += " --kernels " +
            files::shell_word(literally(metrics::plain_name(metrics::demangled(fact.kernel))));
  }
  if (!options.budgets.empty()) text += " --budgets " + files::shell_word(options.budgets.string());
  if (!options.project.empty()) text += " --project " + files::shell_word(options.project.string());
  return text;
}

std::string repeat_program(const Source& source, const ProgramOptions& options,
                           const metrics::Fact& fact) {
  std::string command = fmt::format("{} {}", process::program_name(), source.counter().command);
  for (const std::string& word : source.own_options()) command += ' ' + files::shell_word(word);
  command += judge_options(options, fact);
  const LaunchFilter& choice = options.choice;
  if (choice.sample > 0) command += fmt::format(" --sample {}", choice.sample);
  if (choice.limit > 0) command += fmt::format(" --limit-launches {}", choice.limit);
  for (const std::string& glob : choice.skip) command += " --skip " + files::shell_word(glob);
  if (options.strict) command += " --strict";
  command += " --";
  for (const std::string& argument : options.command) command += ' ' + files::shell_word(argument);
  return command;
}

}  // namespace warpgauge::programs
