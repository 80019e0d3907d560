// Writes the table of inspected kernels, and the command that repeats a verdict.
#include "harness/inspect/inspect_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <variant>

#include "harness/files/printable.h"
#include "harness/files/shell_word.h"
#include "harness/process/program_name.h"
#include "harness/programs/program_text.h"

namespace warpgauge::inspect {

namespace {

constexpr std::size_t kShown = 40;
constexpr std::string_view kRow =
    "{:<8} {:>5} {:>7} {:>8} {:>8} {:>7} {:>7} {:>8} {:>9} {:>10}  {}\n";

enum Column : std::size_t {
  kRegisters,
  kStack,
  kSpills,
  kLoads,
  kStores,
  kShared,
  kOccupancy,
  kCode
};

/// The value of the whole case; nullopt where it is not known.
std::optional<double> number_of(const programs::ProgramCase& program_case,
                                std::string_view metric) {
  for (const metrics::Fact& fact : program_case.facts) {
    const double* const number = std::get_if<double>(&fact.value);
    const bool is_it = fact.scope == metrics::Scope::whole_case && fact.metric == metric;
    if (is_it && number != nullptr) return *number;
  }
  return std::nullopt;
}

std::string plural(std::size_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

}  // namespace

void ResourcesTable::Range::add(std::optional<double> value) {
  if (!value) return;
  if (!ends) ends.emplace(*value, *value);
  ends = std::pair(std::min(ends->first, *value), std::max(ends->second, *value));
}

std::string ResourcesTable::Range::text() const {
  if (!ends) return "-";
  const std::string least = metrics::to_text(ends->first);
  return ends->first == ends->second ? least
                                     : fmt::format("{}-{}", least, metrics::to_text(ends->second));
}

void ResourcesTable::add(const programs::ProgramCase& program_case) {
  const auto of = [&](std::string_view metric) { return number_of(program_case, metric); };
  const auto [place, is_new] = rows_.try_emplace(program_case.kernel);
  Row& row = place->second;
  if (is_new) row.place = rows_.size();
  ++codes_;
  row.files.insert(program_case.id.family);
  row.archs.insert(program_case.facts.front().arch);
  row.values[kRegisters].add(of("registers"));
  row.values[kStack].add(of("stack.bytes"));
  const auto stores = of("spill.store_bytes"), loads = of("spill.load_bytes");
  if (stores || loads) row.values[kSpills].add(stores.value_or(0) + loads.value_or(0));
  row.values[kLoads].add(of("local.load_instructions"));
  row.values[kStores].add(of("local.store_instructions"));
  row.values[kShared].add(of("shared.static_bytes"));
  row.values[kOccupancy].add(of("occupancy.theoretical"));
  row.values[kCode].add(of("code.bytes"));
}

std::string ResourcesTable::text() const {
  if (rows_.empty()) return "";
  std::vector<const std::pair<const std::string, Row>*> rows;
  for (const auto& row : rows_) rows.push_back(&row);
  const auto key = [](const auto* row) {
    const auto most = [&](Column column) { return -row->second.values[column].most(); };
    return std::tuple(most(kSpills), most(kLoads) + most(kStores), most(kRegisters),
                      row->second.place);
  };
  std::ranges::sort(rows, {}, key);
  if (rows.size() > kShown) rows.resize(kShown);
  std::string text = fmt::format(fmt::runtime(kRow), "arch", "files", "regs", "stack", "spills",
                                 "loads", "stores", "shared", "occupancy", "code", "kernel");
  for (const auto* entry : rows) {
    const auto& [name, row] = *entry;
    const auto of = [&](Column column) { return row.values[column].text(); };
    text +=
        fmt::format(fmt::runtime(kRow),
                    row.archs.size() == 1 ? *row.archs.begin() : plural(row.archs.size(), "arch"),
                    row.files.size(), of(kRegisters), of(kStack), of(kSpills), of(kLoads),
                    of(kStores), of(kShared), of(kOccupancy), of(kCode), programs::shortened(name));
  }
  if (rows_.size() > kShown) {
    text += fmt::format("and {} more, see facts.jsonl\n", rows_.size() - kShown);
  }
  text += "spills: bytes stored and loaded; loads and stores: instructions on local memory\n";
  const std::string codes =
      codes_ == rows_.size() ? "" : fmt::format(", {} times compiled", codes_);
  return text + fmt::format("judged: {}{}\n", plural(rows_.size(), "kernel"), codes);
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

void OlderCode::add(const std::string& arch, std::size_t kernels) {
  kernels_ += kernels;
  archs_.insert(arch);
}

std::string OlderCode::text(const std::string& first_known) const {
  if (archs_.empty()) return "";
  return fmt::format("{} for {} not judged: machine code before {} is not known here",
                     plural(kernels_, "kernel"), fmt::join(archs_, ", "), first_known);
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
  for (const std::filesystem::path& path : options.paths) {
    command += ' ' + files::shell_word(path.string());
  }
  return command;
}

}  // namespace warpgauge::inspect
