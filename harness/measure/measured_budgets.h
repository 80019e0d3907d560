// The budgets that a launch inside of a test is held against (warpgauge/measure.h).
#pragma once

#include <string_view>

#include "metrics/budgets/budget.h"
#include "metrics/facts/fact.h"

namespace warpgauge {

/// `budget` is budget lines, or the id of a case, which then becomes `id`. Throws BudgetError for
/// lines and files that cannot be used, and std::invalid_argument for an id of no case.
metrics::Budgets budgets_of(std::string_view budget, metrics::CaseId* id);

}  // namespace warpgauge
