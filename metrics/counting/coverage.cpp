// Adds coverage up, and reads and writes lcov's format.
#include "metrics/counting/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace warpgauge::metrics {
namespace {

constexpr std::string_view kEnd = "end_of_record";

int branch_number(const BranchPlace& branch) { return branch.backward ? 2 : 0; }

void write_file_record(std::string& text, const std::string& file, const FileCoverage& coverage) {
  const auto& [lines, branches, functions] = coverage;
  text += fmt::format("TN:\nSF:{}\n", file);
  for (const auto& [name, hits] : functions) text += fmt::format("FN:{},{}\n", hits.line, name);
  for (const auto& [name, hits] : functions) text += fmt::format("FNDA:{},{}\n", hits.warps, name);
  const auto entered =
      std::ranges::count_if(functions, [](auto& function) { return function.second.warps > 0; });
  text += fmt::format("FNF:{}\nFNH:{}\n", functions.size(), entered);
  std::uint64_t branches_hit = 0;
  for (const auto& [place, hits] : branches) {
    const bool reached = hits.taken + hits.not_taken > 0;
    branches_hit += (hits.taken > 0) + (hits.not_taken > 0);
    int number = branch_number(place);
    for (const std::uint64_t count : {hits.taken, hits.not_taken}) {
      text += fmt::format("BRDA:{},{},{},{}\n", place.line, place.column, number++,
                          reached ? fmt::to_string(count) : "-");
    }
  }
  text += fmt::format("BRF:{}\nBRH:{}\n", 2 * branches.size(), branches_hit);
  for (const auto& [line, hits] : lines) text += fmt::format("DA:{},{}\n", line, hits.warps);
  const auto ran = std::ranges::count_if(lines, [](auto& line) { return line.second.warps > 0; });
  text += fmt::format("LF:{}\nLH:{}\n{}\n", lines.size(), ran, kEnd);
}

/// Reads fields that are separated by commas.
class LineFields {
 public:
  explicit LineFields(std::string_view text) : rest_(text) {}

  std::string_view text() {
    const std::size_t end = std::min(rest_.find(','), rest_.size());
    const std::string_view field = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return field;
  }
  template <typename Number>
  Number number() {
    const std::string_view field = text();
    Number value{};
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc() || end != field.data() + field.size()) {
      throw CoverageError(fmt::format("'{}' is not a number", field));
    }
    return value;
  }
  std::uint64_t count() { return number<std::uint64_t>(); }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

void read_branch(LineFields fields, FileCoverage& file) {
  BranchPlace place{.line = fields.number<int>(), .column = fields.number<int>()};
  const int number = fields.number<int>();
  place.backward = number >= 2;
  BranchHits& hits = file.branches[place];
  if (fields.rest() == "-") return;
  (number % 2 == 0 ? hits.taken : hits.not_taken) += fields.count();
}

}  // namespace

/// Adds the warps. Where architectures differ in the line, the first one stays.
void FunctionHits::add(const FunctionHits& more) {
  if (line == 0 || (more.line != 0 && more.line < line)) line = more.line;
  warps += more.warps;
}

void add(Coverage& sum, const Coverage& more) {
  for (const auto& [name, file] : more) {
    FileCoverage& into = sum[name];
    for (const auto& [line, hits] : file.lines) {
      into.lines[line].warps += hits.warps;
      into.lines[line].lanes += hits.lanes;
    }
    for (const auto& [place, hits] : file.branches) {
      into.branches[place].taken += hits.taken;
      into.branches[place].not_taken += hits.not_taken;
    }
    for (const auto& [function, hits] : file.functions) into.functions[function].add(hits);
  }
}

std::string lcov_text(const Coverage& coverage) {
  std::string text;
  for (const auto& [name, file] : coverage) write_file_record(text, name, file);
  return text;
}

Coverage read_lcov(std::string_view text) {
  Coverage coverage;
  FileCoverage* file = nullptr;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    const std::string_view key = line.substr(0, line.find(':'));
    LineFields fields(line.substr(std::min(key.size() + 1, line.size())));
    const auto is_one_of = [&](const auto&... keys) { return ((key == keys) || ...); };
    try {
      if (key == "SF") {
        file = &coverage[std::string(fields.rest())];
      } else if (is_one_of("TN", "FNF", "FNH", "BRF", "BRH", "LF", "LH")) {
      } else if (file == nullptr) {
        throw CoverageError(fmt::format("'{}' outside of a record", line));
      } else if (key == kEnd) {
        file = nullptr;
      } else if (key == "FN") {
        const int begin = fields.number<int>();
        file->functions[std::string(fields.rest())].add({.line = begin});
      } else if (key == "FNDA") {
        const std::uint64_t warps = fields.count();
        file->functions[std::string(fields.rest())].add({.warps = warps});
      } else if (key == "BRDA") {
        read_branch(fields, *file);
      } else if (key == "DA") {
        const int place = fields.number<int>();
        file->lines[place].warps += fields.count();
      } else {
        throw CoverageError(fmt::format("'{}' is unknown", line));
      }
    } catch (const CoverageError& error) {
      throw CoverageError(fmt::format("line {} of the coverage: {}", number, error.what()));
    }
  }
  if (file != nullptr) throw CoverageError("the last record of the coverage has no end");
  return coverage;
}

CoverageTotals totals(const Coverage& coverage) {
  CoverageTotals sum;
  for (const auto& [name, file] : coverage) {
    sum.lines += file.lines.size();
    for (const auto& [line, hits] : file.lines) sum.lines_hit += hits.warps > 0;
    sum.branches += 2 * file.branches.size();
    for (const auto& [place, hits] : file.branches) {
      sum.branches_hit += (hits.taken > 0) + (hits.not_taken > 0);
    }
  }
  return sum;
}

std::string headline(const CoverageTotals& totals) {
  const auto share = [](std::uint64_t part, std::uint64_t all, std::string_view what) {
    std::string count = fmt::to_string(all);
    for (int at = static_cast<int>(count.size()) - 3; at > 0; at -= 3) count.insert(at, 1, ',');
    const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(all);
    return all == 0 ? fmt::format("no {}", what)
                    : fmt::format("{:.1f} % of {} {}", percent, count, what);
  };
  return fmt::format("coverage: {}, {}", share(totals.lines_hit, totals.lines, "lines"),
                     share(totals.branches_hit, totals.branches, "branches"));
}

}  // namespace warpgauge::metrics
