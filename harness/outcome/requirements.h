// The requirements of a run: values that must be measured, and values that make it red.
#pragma once

#include <vector>

#include "metrics/facts/fact.h"

namespace warpgauge::outcome {

/// Conditions of success beside the budgets.
struct Requirements {
  bool strict = false;  ///< better than budget is not good enough: tighten the budget
  bool cubin = false;   ///< every compile-time value must be there
  bool cupti = false;   ///< every run-time value must be there, and be sure
  /// Every run-time value must be there, and be sure where a budget is written for it.
  bool counts = false;
  bool device = false;  ///< every kernel must have been run
  bool judged = true;   ///< at least one value must have been held against a budget

  /// True for a value of a whole case that makes the run red. There is no other such rule.
  bool is_wrong(const metrics::Fact& fact) const;
};

/// Whether a value is there but not sure (an estimate, or predicted), and only a built-in limit
/// judges it.
bool is_unsure_by_default(const metrics::Fact& fact);

/// The values that a run was asked to have measured, and whether it is strict.
Requirements asked_requirements(const metrics::RunRequest& asked);

/// The requirements that the runs were started with. Times alone need no budget.
Requirements requirements_of(const std::vector<metrics::StoredRun>& runs);

}  // namespace warpgauge::outcome
