// The budgets that a launch inside of a test is held against (warpgauge/measure.h).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "harness/cases/registry.h"
#include "metrics/budgets/budget.h"
#include "metrics/facts/fact.h"

namespace warpgauge {

struct MeasuredBudgets {
  metrics::CaseId id;  ///< the case that they are for
  metrics::Budgets budgets;
  std::string from;  ///< where they are read, for people
};

/// The file of what was accepted for the launches of a suite of tests: SUITE.test.toml beside the
/// source that has the launch.
std::filesystem::path test_budget_path(const Case& launch);

/// `budget` is budget lines for the launch, above what was accepted for it, or the id of a case,
/// which the launch is then held against. Throws BudgetError for lines and files that cannot be
/// used, and std::invalid_argument for an id of no case.
MeasuredBudgets budgets_of(std::string_view budget, const Case& launch);

}  // namespace warpgauge
