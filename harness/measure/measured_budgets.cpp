// Finds the budgets of a launch inside of a test, by lines or by the id of a case.
#include "harness/measure/measured_budgets.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "harness/build_info.h"
#include "harness/cases/family_budgets.h"
#include "harness/cases/registry.h"
#include "harness/files/source_root.h"
#include "metrics/base/nearest.h"

namespace warpgauge {
namespace {

namespace fs = std::filesystem;
using metrics::Budgets;
using metrics::CaseId;

/// `registers = 32` and `shared.bank_conflicts = 0` as a budget file has them for `id`: names of
/// several parts in quotes. The first line may be that of `gate_on`, which stands before sections.
std::string budget_text(std::string_view lines, const CaseId& id) {
  const std::string section = fmt::format("[\"{}@{}\"]\n", id.variant_type(), id.size);
  std::string text = section;
  std::istringstream stream{std::string(lines)};
  for (std::string line; std::getline(stream, line);) {
    if (text == section && line.starts_with("gate_on")) {
      text = line + "\n" + section;
      continue;
    }
    const std::size_t begin = line.find_first_not_of(" \t");
    const std::size_t end = line.find_first_of(" \t=", begin == std::string::npos ? 0 : begin);
    const bool plain = begin != std::string::npos && end != std::string::npos &&
                       line[begin] != '"' && line[begin] != '#' &&
                       line.substr(begin, end - begin).find('.') != std::string::npos;
    if (plain) {
      line.insert(end, "\"");
      line.insert(begin, "\"");
    }
    text += line + "\n";
  }
  return text;
}

/// The parts of `family.variant.type@size`, or nothing. A line of budgets has a '=', an id has
/// none.
std::optional<CaseId> as_id(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos || text.find_first_of("=\n#") != std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t first = text.find('.'), second = text.find('.', first + 1);
  if (second == std::string_view::npos || second > at) {
    throw std::invalid_argument(fmt::format(
        "'{}' is neither an id, family.variant.type@size, nor a budget line, metric = limit",
        text));
  }
  const auto part = [&](std::size_t begin, std::size_t end) {
    return std::string(text.substr(begin, end - begin));
  };
  return CaseId{part(0, first), part(first + 1, second), part(second + 1, at),
                part(at + 1, text.size())};
}

/// The budgets of a case that this program has.
Budgets registered(const CaseId& id) {
  const Registry& registry = Registry::instance();
  registry.at(id.str());  // or throws
  std::vector<const Case*> family;
  for (const Case& measured : registry.cases()) {
    if (measured.id.family == id.family) family.push_back(&measured);
  }
  return read_family_budgets(family);
}

std::string nearest_file(const fs::path& folder, const std::string& family) {
  std::vector<std::string> families;
  std::error_code not_there;
  for (const auto& entry : fs::directory_iterator(folder, not_there)) {
    if (entry.path().extension() == ".toml") families.push_back(entry.path().stem());
  }
  return metrics::did_you_mean(family, families);
}

/// The file of a case in the folder for budgets; empty if there is no folder.
fs::path file_of(const CaseId& id) {
  const fs::path folder(kBuildInfo.budgets_folder);
  return folder.empty() ? folder : folder / (metrics::id_word(id.family) + ".toml");
}

/// The path for people.
std::string shown(const fs::path& path) {
  return files::relative_to_root(path) + (fs::exists(path) ? "" : " (not there)");
}

/// The budgets of a case that only a file in the folder for budgets names.
Budgets unregistered(const CaseId& id) {
  const fs::path path = file_of(id);
  if (path.empty()) {
    throw std::invalid_argument(
        fmt::format("{}: this program has no such case and no folder of budgets; name one with "
                    "BUDGETS <folder> in warpgauge_add_gtest(), or with the property "
                    "WARPGAUGE_BUDGETS of a target that links warpgauge::gtest",
                    id.str()));
  }
  if (!fs::exists(path)) {
    throw std::invalid_argument(fmt::format("{}: there is no {}{}", id.str(),
                                            files::relative_to_root(path),
                                            nearest_file(path.parent_path(), id.family)));
  }
  Budgets budgets = Budgets::load_unregistered(path);
  const std::set<std::string> sections = budgets.section_names();
  const std::string whole = id.variant_type() + "@" + id.size;
  if (!sections.contains(whole) && !sections.contains(id.variant_type()) &&
      !sections.contains(id.variant)) {
    const std::vector<std::string> names(sections.begin(), sections.end());
    throw std::invalid_argument(fmt::format(
        "{}: {} has no section for it{}; add [\"{}\"], or one of its variant, or of its type",
        id.str(), files::relative_to_root(path), metrics::did_you_mean(whole, names), whole));
  }
  return budgets;
}

}  // namespace

fs::path test_budget_path(const Case& launch) {
  const fs::path source = fs::path(kBuildInfo.source_root) / launch.file;
  // Suites of parameterised tests have a '/'.
  return source.parent_path() / (metrics::id_word(launch.id.family) + ".test.toml");
}

MeasuredBudgets budgets_of(std::string_view budget, const Case& launch) {
  MeasuredBudgets measured{.id = launch.id, .budgets = {}, .from = {}};
  Budgets& budgets = measured.budgets;
  if (const std::optional<CaseId> named = as_id(budget)) {
    measured.id = *named;
    const auto& cases = Registry::instance().cases();
    const auto family = std::ranges::find_if(
        cases, [&](const Case& known) { return known.id.family == named->family; });
    budgets = family != cases.end() ? registered(*named) : unregistered(*named);
    measured.from = shown(family != cases.end() ? budget_path(*family) : file_of(*named));
  } else {
    budgets = Budgets::parse(budget_text(budget, launch.id), "budget", std::span(&launch.id, 1));
    const fs::path accepted = test_budget_path(launch);
    if (fs::exists(accepted)) budgets.rest_on_file(Budgets::load_unregistered(accepted));
    measured.from = "the test, and below it " + shown(accepted);
  }
  budgets.rest_on(read_project_budgets());
  return measured;
}

}  // namespace warpgauge
