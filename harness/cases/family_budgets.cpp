// Finds and reads the budget files of families, and refuses folders where their place is not clear.
#include "harness/cases/family_budgets.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "harness/build_info.h"
#include "harness/files/source_root.h"
#include "metrics/base/nearest.h"

namespace warpgauge {
namespace {

namespace fs = std::filesystem;

std::string lower(std::string text) {
  for (char& letter : text) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return text;
}

/// Rejects a file beside the source whose name is nearly `path`'s: it would check nothing.
void check_names_beside(const fs::path& path) {
  const std::vector<std::string> names = {path.filename()};
  for (const auto& entry : fs::directory_iterator(path.parent_path())) {
    const std::string name = entry.path().filename();
    if (name == names.front() || lower(entry.path().extension()) != ".toml") continue;
    if (metrics::did_you_mean(lower(name), names).empty()) continue;
    throw metrics::BudgetError(
        fmt::format("{}: is not read, because budgets beside a source are in {}; rename the file, "
                    "or take it away",
                    files::relative_to_root(entry.path()), names.front()));
  }
}

/// Rejects files in the folder for budgets that belong to no family: they would check nothing.
void check_folder(const std::map<std::string, std::vector<const Case*>>& families) {
  const fs::path folder(kBuildInfo.budgets_folder);
  if (folder.empty() || !fs::exists(fs::symlink_status(folder))) return;
  if (!fs::is_directory(folder)) {
    throw metrics::BudgetError(folder.string() + ": the folder for budgets is no folder");
  }
  for (const auto& entry : fs::directory_iterator(folder)) {
    const fs::path& file = entry.path();
    if (lower(file.extension()) != ".toml") continue;
    if (file.extension() == ".toml" && families.contains(file.stem())) continue;
    std::vector<std::string> names;
    for (const auto& [family, cases] : families) names.push_back(family);
    throw metrics::BudgetError(
        fmt::format("{}: there is no family '{}' here{}; rename the file, or "
                    "take it away",
                    files::relative_to_root(file), file.stem().string(),
                    metrics::did_you_mean(file.stem().string(), names)));
  }
}

/// Two families whose sources lie in one folder would share the file, whose sections are of one.
void check_files(const std::map<std::string, std::vector<const Case*>>& families) {
  std::map<fs::path, std::string> owners;
  for (const auto& [family, cases] : families) {
    const fs::path path = budget_path(*cases.front());
    const auto [owner, is_new] = owners.emplace(path, family);
    if (is_new || !fs::exists(path)) continue;
    throw metrics::BudgetError(
        fmt::format("{}: families '{}' and '{}' have this folder, and it can be of one of them; "
                    "name a folder for budgets, warpgauge_add_kernels(... BUDGETS <folder>), with "
                    "a file for each",
                    files::relative_to_root(path), owner->second, family));
  }
}

/// Checks that the sources are there, and have one place for budgets. Only then does the lack of a
/// file mean built-in defaults.
void check_sources(const std::vector<const Case*>& cases) {
  const Case& first = *cases.front();
  for (const Case* test_case : cases) {
    if (!fs::exists(test_case->file)) {
      throw metrics::BudgetError(fmt::format(
          "{}: not found, so the budgets beside it are not known; run the program where "
          "it was built, or build it again",
          test_case->file));
    }
    if (budget_path(*test_case) != budget_path(first)) {
      throw metrics::BudgetError(
          fmt::format("{}:{}: family {} also lies in {}, and has its budgets there; keep it in one "
                      "folder",
                      files::relative_to_root(test_case->file), test_case->line, first.id.family,
                      files::relative_to_root(first.file)));
    }
  }
}

}  // namespace

std::filesystem::path budget_path(const Case& test_case) {
  const fs::path folder(kBuildInfo.budgets_folder);
  return folder.empty() ? fs::path(test_case.file).parent_path() / "budgets.toml"
                        : folder / (test_case.id.family + ".toml");
}

fs::path project_budget_path(const fs::path& chosen) {
  if (!chosen.empty()) return chosen;
  const fs::path file(kBuildInfo.project_file);
  return fs::exists(fs::symlink_status(file)) ? file : fs::path();
}

metrics::Budgets read_project_budgets(const std::filesystem::path& path) {
  const fs::path file = project_budget_path(path);
  if (file.empty()) return {};
  return metrics::Budgets::load_project(file, files::relative_to_root(file));
}

metrics::Budgets read_family_budgets(const std::vector<const Case*>& cases) {
  check_sources(cases);
  const fs::path path = budget_path(*cases.front());
  if (kBuildInfo.budgets_folder.empty()) check_names_beside(path);
  if (!fs::exists(fs::symlink_status(path))) return {};
  if (!fs::exists(path)) {
    throw metrics::BudgetError(
        fmt::format("{}: a link to {}, which is not there; let it point to the budget file, or "
                    "take it away",
                    files::relative_to_root(path), fs::read_symlink(path).string()));
  }
  std::vector<metrics::CaseId> ids;
  for (const Case* test_case : cases) ids.push_back(test_case->id);
  return metrics::Budgets::load(path, files::relative_to_root(path), ids);
}

FamilyBudgets::FamilyBudgets(const Registry& registry, const std::filesystem::path& project)
    : registry_(registry), project_(read_project_budgets(project)) {
  if (const fs::path file = project_budget_path(project); !file.empty()) {
    project_file_ = files::relative_to_root(file);
  }
  std::map<std::string, std::vector<const Case*>> families;
  for (const Case& test_case : registry.cases()) {
    families[test_case.id.family].push_back(&test_case);
  }
  check_folder(families);
  check_files(families);
  for (const auto& [family, cases] : families) {
    budgets_.emplace(family, read_family_budgets(cases)).first->second.rest_on(project_);
  }
}

std::vector<const Case*> FamilyBudgets::ratios_of(const Case& test_case) const {
  std::vector<const Case*> cases;
  for (const metrics::CaseId& id : of(test_case.id).ratios_of(test_case.id)) {
    const Case& other = registry_.at(id.str());
    for (const Case* behind : ratios_of(other)) cases.push_back(behind);
    cases.push_back(&other);
  }
  return cases;
}

std::vector<std::string> FamilyBudgets::about() const {
  std::vector<std::string> lines;
  const fs::path folder(kBuildInfo.budgets_folder);
  if (!folder.empty() && !fs::exists(folder)) {
    lines.push_back("no budgets of families: there is no folder " +
                    files::relative_to_root(folder));
  }
  if (project_file_.empty()) return lines;
  std::string others;
  for (const std::string& family : project_.section_names()) {
    if (!budgets_.contains(family)) others += (others.empty() ? "" : ", ") + family;
  }
  lines.push_back("budgets of the project: " + project_file_);
  if (!others.empty()) {
    lines.push_back(fmt::format("{} has sections of families that are not in this program: {}",
                                project_file_, others));
  }
  return lines;
}

}  // namespace warpgauge
