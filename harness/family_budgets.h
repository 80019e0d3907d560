// The budgets of all families of this program, read before anything is run.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "harness/registry.h"
#include "metrics/budget.h"

namespace warpgauge {

/// The budget file of a family: <family>.toml in the folder that the build names for budgets or,
/// where it names none, budgets.toml beside the source.
std::filesystem::path budget_path(const Case& one);

class FamilyBudgets {
 public:
  /// Reads the budget file of every family in the registry; a family without a file has the
  /// built-in defaults. Throws metrics::BudgetError, also where budgets would be lost: the source
  /// of a family is not there any more, or is spread over several folders; of the folder for
  /// budgets, a file of no family.
  explicit FamilyBudgets(const Registry& registry);

  const metrics::Budgets& of(const metrics::CaseId& id) const { return budgets_.at(id.family); }

 private:
  std::map<std::string, metrics::Budgets> budgets_;
};

}  // namespace warpgauge
