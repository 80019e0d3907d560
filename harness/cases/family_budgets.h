// The budgets of all families of this program, read before anything is run.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/cases/registry.h"
#include "metrics/budgets/budget.h"

namespace warpgauge {

/// The budget file of a family: <family>.toml in the folder that the build names for budgets or,
/// where it names none, budgets.toml beside the source.
std::filesystem::path budget_path(const Case& test_case);

/// The file of the whole project: `chosen` or, where that is empty, the one that the build names;
/// empty where that is not there.
std::filesystem::path project_budget_path(const std::filesystem::path& chosen = {});

/// Reads the file of the whole project: `path` or, where that is empty, the file that the build
/// names, which need not be there. Throws metrics::BudgetError.
metrics::Budgets read_project_budgets(const std::filesystem::path& path = {});

/// Reads the budget file of the family that `cases` are (at least one); without a file, none.
/// Throws metrics::BudgetError, also where the source is not there any more, or
/// is spread over several folders.
metrics::Budgets read_family_budgets(const std::vector<const Case*>& cases);

class FamilyBudgets {
 public:
  /// Reads the budgets of every family in the registry, and below them those of the project, as
  /// read_project_budgets(). Throws metrics::BudgetError, also for a file of no family in the
  /// folder for budgets.
  explicit FamilyBudgets(const Registry& registry, const std::filesystem::path& project = {});

  const metrics::Budgets& of(const metrics::CaseId& id) const { return budgets_.at(id.family); }

  /// The cases that limits of `test_case` are multiples of, each behind those that its own limits
  /// are.
  std::vector<const Case*> ratios_of(const Case& test_case) const;

  /// Sentences for people: that the folder for budgets is not there; that the file of the project
  /// is read, and which of its sections are for families of other programs.
  std::vector<std::string> about() const;

 private:
  const Registry& registry_;
  metrics::Budgets project_;
  std::string project_file_;  // as shown; empty: there is none
  std::map<std::string, metrics::Budgets> budgets_;
};

}  // namespace warpgauge
