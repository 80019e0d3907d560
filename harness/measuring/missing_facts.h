// Facts that say why a value is missing.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/budgets/budget.h"
#include "metrics/facts/catalog.h"
#include "metrics/facts/fact.h"

namespace warpgauge {

/// The reason why counted kernels have no value of a metric that was counted.
inline constexpr std::string_view kNoSuchAccess = "the kernels made no such access";

/// Hardware counters by their names (metrics::is_counter).
using Counters = std::vector<const metrics::Metric*>;

/// Unmeasured facts for the metrics of `source` that have a budget or are `asked` for and for which
/// `is_there` is false: a metric must never be missing in silence. `blank` has the case.
std::vector<metrics::Fact> unmeasured_facts(
    const std::function<bool(std::string_view metric)>& is_there, metrics::Source source,
    const metrics::Fact& blank, const std::string& reason, const metrics::Budgets& budgets,
    const Counters& asked = {});
/// The unmeasured facts for metrics that are not among `facts`.
std::vector<metrics::Fact> missing_facts(const std::vector<metrics::Fact>& facts,
                                         metrics::Source source, const metrics::Fact& blank,
                                         const std::string& reason, const metrics::Budgets& budgets,
                                         const Counters& asked = {});
/// missing_facts() for the metrics that CUPTI or the emulator counts. `why_not_counted` is the
/// reason; empty where the kernels were counted, and then there was nothing to count.
std::vector<metrics::Fact> missing_counts(const std::vector<metrics::Fact>& facts,
                                          const metrics::Fact& blank,
                                          const std::string& why_not_counted,
                                          const metrics::Budgets& budgets);

}  // namespace warpgauge
