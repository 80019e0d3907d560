// Facts that say why a value is missing.
#pragma once

#include <functional>
#include <span>
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

/// The metrics of a case that must not be missing in silence.
struct WantedMetrics {
  const metrics::Fact& blank;                          ///< a fact of the case, without a metric
  const metrics::Budgets& budgets;                     ///< metrics with a budget in them are wanted
  std::span<const metrics::Metric* const> asked = {};  ///< counters that are wanted besides
};

/// Unmeasured facts, with the `reason`, for the wanted metrics of `source` for which `is_there` is
/// false.
std::vector<metrics::Fact> unmeasured_facts(
    const std::function<bool(std::string_view metric)>& is_there, metrics::Source source,
    const std::string& reason, const WantedMetrics& wanted);
/// The unmeasured facts for wanted metrics that are not among `facts`.
std::vector<metrics::Fact> missing_facts(const std::vector<metrics::Fact>& facts,
                                         metrics::Source source, const std::string& reason,
                                         const WantedMetrics& wanted);
/// missing_facts() for the metrics that CUPTI or the emulator counts. `why_not_counted` is the
/// reason. It is empty where the kernels were counted: then they made no such access, and a metric
/// that only the emulator counts says so.
std::vector<metrics::Fact> missing_counts(const std::vector<metrics::Fact>& facts,
                                          const std::string& why_not_counted,
                                          const WantedMetrics& wanted);

}  // namespace warpgauge
