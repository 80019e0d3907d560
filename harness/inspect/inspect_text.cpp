// Writes the table of inspected kernels, and the command that repeats a verdict.
#include "harness/inspect/inspect_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <string_view>
#include <utility>
#include <variant>

#include "harness/files/printable.h"
#include "harness/files/shell_word.h"
#include "harness/process/program_name.h"
#include "harness/programs/program_text.h"

namespace warpgauge::inspect {

using programs::value_of;

namespace {

constexpr std::size_t kShown = 40;
constexpr std::string_view kRow = "{:<8} {:>4} {:>6} {:>6} {:>6} {:>6} {:>7} {:>9} {:>7}  {}\n";

/// The value of the whole case; 0 where it is not known.
double number_of(const programs::ProgramCase& program_case, std::string_view metric) {
  for (const metrics::Fact& fact : program_case.facts) {
    const double* const number = std::get_if<double>(&fact.value);
    const bool is_it = fact.scope == metrics::Scope::whole_case && fact.metric == metric;
    if (is_it && number != nullptr) return *number;
  }
  return 0;
}

}  // namespace

void ResourcesTable::add(const programs::ProgramCase& program_case) {
  const auto of = [&](std::string_view metric) { return -number_of(program_case, metric); };
  const double spills =
      number_of(program_case, "spill.load_bytes") + number_of(program_case, "spill.store_bytes");
  const Key key = {-spills, of("local.load_instructions") + of("local.store_instructions"),
                   of("registers"), kernels_++};
  if (rows_.size() == kShown && key > rows_.rbegin()->first) return;
  rows_[key] =
      fmt::format(fmt::runtime(kRow), program_case.facts.front().arch,
                  value_of(program_case, "registers"), value_of(program_case, "stack.bytes"),
                  spills, value_of(program_case, "local.load_instructions"),
                  value_of(program_case, "local.store_instructions"),
                  value_of(program_case, "shared.static_bytes"),
                  value_of(program_case, "occupancy.theoretical"),
                  value_of(program_case, "code.bytes"), programs::shortened(program_case.kernel));
  if (rows_.size() > kShown) rows_.erase(std::prev(rows_.end()));
}

std::string ResourcesTable::text() const {
  if (rows_.empty()) return "";
  std::string text = fmt::format(fmt::runtime(kRow), "arch", "regs", "stack", "spills", "loads",
                                 "stores", "shared", "occupancy", "code", "kernel");
  for (const auto& [key, row] : rows_) text += row;
  if (kernels_ > kShown) {
    text += fmt::format("and {} more, see facts.jsonl\n", kernels_ - kShown);
  }
  return text +
         "spills: bytes stored and loaded; loads and stores: instructions on local memory\n" +
         fmt::format("judged: {} kernel{}\n", kernels_, kernels_ == 1 ? "" : "s");
}

void SkippedFiles::add(const std::string& reason, const std::string& file) {
  constexpr std::size_t kFirst = 3;
  Files& files = by_reason_[reason];
  if (++files.number <= kFirst) files.first.push_back(files::printable(file));
}

std::vector<std::string> SkippedFiles::sentences() const {
  std::vector<std::string> sentences;
  for (const auto& [reason, files] : by_reason_) {
    std::string sentence =
        fmt::format("{} file{} skipped ({}): {}", files.number, files.number == 1 ? "" : "s",
                    reason, fmt::join(files.first, ", "));
    if (files.number > files.first.size()) {
      sentence += fmt::format(" and {} more", files.number - files.first.size());
    }
    sentences.push_back(std::move(sentence));
  }
  return sentences;
}

std::string repeat_inspect(const InspectOptions& options, const metrics::Fact& fact) {
  std::string command = fmt::format("{} inspect", process::program_name());
  if (!fact.arch.empty()) command += " --arch " + fact.arch;
  command += programs::judge_options(options, fact);
  if (options.threads) command += fmt::format(" --block {}", *options.threads);
  if (options.strict) command += " --strict";
  if (options.time_limit != kUsualCompilationLimit) {
    command += fmt::format(" --timeout {}", options.time_limit.count());
  }
  for (const std::filesystem::path& thing : options.things) {
    command += ' ' + files::shell_word(thing.string());
  }
  return command;
}

}  // namespace warpgauge::inspect
