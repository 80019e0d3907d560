#include "harness/family_budgets.h"

#include <fmt/format.h>

#include <vector>

#include "harness/source_root.h"

namespace warpgauge {
namespace {

/// That there is no file means built-in defaults only where the file could have been.
void check_sources(const std::vector<const Case*>& cases) {
  const Case& first = *cases.front();
  for (const Case* one : cases) {
    if (!std::filesystem::exists(one->file)) {
      throw metrics::BudgetError(fmt::format(
          "{}: not found, so the budgets beside it are not known; run the program where "
          "it was built, or build it again",
          one->file));
    }
    if (budget_path(*one) != budget_path(first)) {
      throw metrics::BudgetError(fmt::format(
          "{}:{}: family {} also lies in {}, and has its budgets there; keep it in one "
          "folder",
          relative_to_root(one->file), one->line, first.id.family, relative_to_root(first.file)));
    }
  }
}

}  // namespace

std::filesystem::path budget_path(const Case& one) {
  return std::filesystem::path(one.file).parent_path() / "budgets.toml";
}

FamilyBudgets::FamilyBudgets(const Registry& registry) {
  std::map<std::string, std::vector<const Case*>> families;
  for (const Case& one : registry.cases()) families[one.id.family].push_back(&one);
  for (const auto& [family, cases] : families) {
    check_sources(cases);
    const std::filesystem::path path = budget_path(*cases.front());
    if (!std::filesystem::exists(path)) {
      budgets_.emplace(family, metrics::Budgets());
      continue;
    }
    std::vector<metrics::CaseId> ids;
    for (const Case* one : cases) ids.push_back(one->id);
    budgets_.emplace(family, metrics::Budgets::load(path, ids));
  }
}

}  // namespace warpgauge
