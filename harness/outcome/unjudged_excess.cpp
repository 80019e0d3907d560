// Finds the case that takes most beyond its ideal without a budget.
#include "harness/outcome/unjudged_excess.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "harness/outcome/finding_text.h"
#include "metrics/facts/catalog.h"

namespace warpgauge::outcome {
namespace {

using metrics::Fact;

/// The metrics of cost beyond the ideal; shared.wavefronts, which has an ideal as well, includes
/// it.
constexpr std::array<std::string_view, 2> kExcesses = {"shared.bank_conflicts",
                                                       "global.excess_sectors"};

const double* number_of(const Fact& fact) { return std::get_if<double>(&fact.value); }

}  // namespace

double UnjudgedExcess::excess() const { return std::get<double>(fact->value); }

double UnjudgedExcess::ratio() const { return 1 + excess() / ideal; }

std::optional<UnjudgedExcess> worst_unjudged_excess(const std::vector<JudgedValue>& values) {
  using Place = std::tuple<metrics::CaseId, std::string, std::string_view>;
  std::map<Place, double> ideals;
  for (const auto& [fact, run] : values) {
    const double* value = number_of(*fact);
    if (value == nullptr || *value <= 0) continue;
    const bool is_ideal = std::ranges::any_of(kExcesses, [&](std::string_view excess) {
      return metrics::metric(excess).ideal == fact->metric;
    });
    if (is_ideal) ideals[{fact->id, fact->arch, metrics::metric(fact->metric).id}] = *value;
  }
  std::optional<UnjudgedExcess> worst;
  for (const auto& [fact, run] : values) {
    const double* value = number_of(*fact);
    if (fact->verdict != metrics::Verdict::unbudgeted || value == nullptr || *value <= 0) continue;
    if (std::ranges::find(kExcesses, fact->metric) == kExcesses.end()) continue;
    const auto ideal = ideals.find({fact->id, fact->arch, metrics::metric(fact->metric).ideal});
    if (ideal == ideals.end()) continue;
    const UnjudgedExcess excess{fact, ideal->second};
    if (!worst || excess.ratio() > worst->ratio()) worst = excess;
  }
  return worst;
}

std::string unjudged_text(const UnjudgedExcess& worst) {
  const metrics::Metric& metric = metrics::metric(worst.fact->metric);
  return fmt::format(
      "Not judged: {}{} takes {:.1f} times its ideal ({} is {:.0f}, {} {:.0f}), and "
      "no budget names it",
      worst.fact->id.str(), worst.fact->arch.empty() ? "" : " on " + worst.fact->arch,
      worst.ratio(), metric.id, worst.excess(), metric.ideal, worst.ideal);
}

}  // namespace warpgauge::outcome
