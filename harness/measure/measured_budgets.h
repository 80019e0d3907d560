// The budgets that a launch inside of a test is held against (warpgauge/measure.h).
#pragma once

#include <string_view>

#include "metrics/budgets/budget.h"
#include "metrics/facts/fact.h"

namespace warpgauge {

struct MeasuredBudgets {
  metrics::CaseId id;  ///< the case that they are for
  metrics::Budgets budgets;
};

/// `budget` is budget lines for the launch called `id`, or the id of a case, which the launch is
/// then held against. Throws BudgetError for lines and files that cannot be used, and
/// std::invalid_argument for an id of no case.
MeasuredBudgets budgets_of(std::string_view budget, const metrics::CaseId& id);

}  // namespace warpgauge
