// Looks for metrics that are wanted and have no value.
#include "harness/measuring/missing_facts.h"

#include <algorithm>
#include <iterator>

#include "harness/measuring/blank_facts.h"

namespace warpgauge {
namespace {

using metrics::Fact;

/// The reason why a GPU's counts have no value of a metric of the emulator.
constexpr std::string_view kOnlyEmulated = "no counter of a GPU has it; the emulator counts it";

}  // namespace

std::vector<Fact> unmeasured_facts(const std::function<bool(std::string_view)>& is_there,
                                   metrics::Source source, const std::string& reason,
                                   const WantedMetrics& wanted) {
  const auto& [blank, budgets, asked] = wanted;
  std::vector<Fact> unmeasured;
  std::vector<const metrics::Metric*> all = budgets.metrics(blank.id, blank.arch);
  for (const metrics::Metric* metric : asked) {
    if (std::ranges::find(all, metric) == all.end()) all.push_back(metric);
  }
  for (const metrics::Metric* metric : all) {
    if (metric->source != source || is_there(metric->id)) continue;
    unmeasured.push_back(with_value(blank, metric->id, {}));
    unmeasured.back().reason = reason;
  }
  return unmeasured;
}

std::vector<Fact> missing_facts(const std::vector<Fact>& facts, metrics::Source source,
                                const std::string& reason, const WantedMetrics& wanted) {
  const auto is_there = [&](std::string_view metric) {
    return std::ranges::any_of(facts, [&](const Fact& fact) {
      return fact.scope == metrics::Scope::whole_case && fact.metric == metric;
    });
  };
  return unmeasured_facts(is_there, source, reason, wanted);
}

std::vector<Fact> missing_counts(const std::vector<Fact>& facts, const std::string& why_not_counted,
                                 const WantedMetrics& wanted) {
  const auto missing_of = [&](metrics::Source source, std::string_view why_none) {
    return missing_facts(facts, source,
                         why_not_counted.empty() ? std::string(why_none) : why_not_counted, wanted);
  };
  std::vector<Fact> missing = missing_of(metrics::Source::sass, kNoSuchAccess);
  std::ranges::move(missing_of(metrics::Source::emulator, kOnlyEmulated),
                    std::back_inserter(missing));
  return missing;
}

}  // namespace warpgauge
