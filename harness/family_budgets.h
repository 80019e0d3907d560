// The budgets of all families of this program, read before anything is run.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/registry.h"
#include "metrics/budget.h"

namespace warpgauge {

/// The budget file of a family: <family>.toml in the folder that the build names for budgets or,
/// where it names none, budgets.toml beside the source.
std::filesystem::path budget_path(const Case& one);

/// Reads the budget file of the family that `cases` are (at least one); without a file it has the
/// built-in defaults. Throws metrics::BudgetError, also where the source is not there any more, or
/// is spread over several folders.
metrics::Budgets read_family_budgets(const std::vector<const Case*>& cases);

class FamilyBudgets {
 public:
  /// Reads the budgets of every family in the registry. Throws metrics::BudgetError, also for a
  /// file of no family in the folder for budgets.
  explicit FamilyBudgets(const Registry& registry);

  const metrics::Budgets& of(const metrics::CaseId& id) const { return budgets_.at(id.family); }

 private:
  std::map<std::string, metrics::Budgets> budgets_;
};

}  // namespace warpgauge
