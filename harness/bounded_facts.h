// Times and hardware counters: what is noisy and is judged with a tolerance, if at all.
#pragma once

#include <string>
#include <vector>

#include "harness/registry.h"
#include "metrics/budget.h"
#include "metrics/fact.h"

namespace warpgauge {

/// The bounded facts of cases that are known to run well, measured in one profiling session and not
/// yet judged. Throws metrics::Unmeasured.
std::vector<metrics::Fact> bounded_facts(const std::vector<const Case*>& cases,
                                         const std::string& arch,
                                         const std::string& device);

/// True if a bounded metric of the case has a budget on `arch`.
bool has_bounded_budget(const Case& one, const std::string& arch, const metrics::Budgets& budgets);

}  // namespace warpgauge
