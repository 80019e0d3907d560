// Compares waivers with findings.
#include "metrics/budgets/waiver.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "metrics/base/check_rules.h"

namespace warpgauge::metrics {
namespace {

/// False where the program breaks the rule, and the line is that of the case, or none.
bool has_own_line(const Fact& finding) {
  const CheckRule* const rule = find_check_rule(finding.rule);
  if (rule == nullptr || !rule->is_of_program) return true;
  const CaseContext& of_case = *finding.context;
  const bool is_of_case = finding.file == of_case.file && finding.line == of_case.line;
  return !finding.file.empty() && !is_of_case;
}

/// The lines of source, and the allocation, that the finding names.
std::vector<std::string> lines_of(const Fact& finding) {
  std::vector<std::string> lines;
  if (has_own_line(finding)) lines.push_back(fmt::format("{}:{}", finding.file, finding.line));
  if (!finding.other.empty()) lines.push_back(finding.other);
  return lines;
}

/// Whether `line`, perhaps without its folders, is the `whole` one.
bool is_line(std::string_view line, std::string_view whole) {
  if (!whole.ends_with(line)) return false;
  return whole.size() == line.size() || whole[whole.size() - line.size() - 1] == '/';
}

}  // namespace

bool Waiver::names(const Fact& finding) const {
  const std::vector<std::string> found = lines_of(finding);
  const auto is_found = [&](const std::string& line) {
    return std::ranges::any_of(found, [&](const auto& whole) { return is_line(line, whole); });
  };
  const auto is_waived = [&](const std::string& whole) {
    return std::ranges::any_of(lines, [&](const auto& line) { return is_line(line, whole); });
  };
  return rule == finding.rule && std::ranges::all_of(lines, is_found) &&
         std::ranges::all_of(found, is_waived);
}

bool Waiver::is_near(const Fact& finding) const {
  const auto file_of = [](const std::string& line) { return line.substr(0, line.rfind(':')); };
  for (const std::string& whole : lines_of(finding)) {
    for (const std::string& line : lines) {
      if (is_line(line, whole)) return true;
      if (rule == finding.rule && is_line(file_of(line), file_of(whole))) return true;
    }
  }
  return false;
}

}  // namespace warpgauge::metrics
