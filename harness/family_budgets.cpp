#include "harness/family_budgets.h"

#include <vector>

namespace warpgauge {

std::filesystem::path budget_path(const Case& one) {
  return std::filesystem::path(one.file).parent_path() / "budgets.toml";
}

FamilyBudgets::FamilyBudgets(const Registry& registry) {
  std::map<std::string, std::vector<const Case*>> families;
  for (const Case& one : registry.cases()) families[one.id.family].push_back(&one);
  for (const auto& [family, cases] : families) {
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
