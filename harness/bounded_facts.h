// Times and hardware counters: what is noisy and is judged with a tolerance, if at all.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/case_facts.h"
#include "harness/registry.h"
#include "metrics/budget.h"
#include "metrics/fact.h"

namespace warpgauge {

/// The bounded facts of cases that are known to run well, measured in one profiling session and not
/// yet judged, with the hardware counters that `counters_of` asks for of each: they are planned
/// together, in as few passes as CUPTI needs. One that was not measured has a fact with the reason.
/// Throws metrics::Unmeasured.
std::vector<metrics::Fact> bounded_facts(const std::vector<const Case*>& cases,
                                         const std::string& arch, const std::string& device,
                                         const std::function<Counters(const Case&)>& counters_of);

/// The counters, also of the catalog, that the budgets of a case on `arch` name, behind those that
/// were `asked` for.
Counters counters_of(const Case& one, const std::string& arch, const metrics::Budgets& budgets,
                     const Counters& asked = {});

/// True if a bounded metric of the case has a budget on `arch`.
bool has_bounded_budget(const Case& one, const std::string& arch, const metrics::Budgets& budgets);

}  // namespace warpgauge
