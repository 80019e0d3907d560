// The cases that a command measures: those that are selected, and those that their budgets need.
#pragma once

#include "harness/cases/family_budgets.h"
#include "harness/cases/registry.h"
#include "harness/cases/selection.h"

namespace warpgauge {

/// The selected cases of the registry, and in front of each the cases that its limits are multiples
/// of, even where --filter leaves them out. Throws as Registry::select().
Cases selected_cases(const Registry& registry, const FamilyBudgets& budgets,
                     const Selection& selection);

}  // namespace warpgauge
