#include "harness/outcome/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <variant>

#include "metrics/catalog.h"
#include "metrics/judge.h"

namespace warpgauge {

using metrics::Fact;
using metrics::Verdict;

int Tally::checks() const {
  int checks = 0;
  for (const auto& [verdict, count] : verdicts) {
    if (verdict != Verdict::unbudgeted) checks += count;
  }
  return checks;
}

int Tally::judged() const {
  int judged = 0;
  for (const auto& [verdict, count] : verdicts) {
    if (verdict != Verdict::unbudgeted && verdict != Verdict::unmeasured &&
        verdict != Verdict::error) {
      judged += count;
    }
  }
  return judged;
}

Summary::Summary(const std::vector<metrics::StoredFact>& facts, std::vector<std::string> lost)
    : lost_(std::move(lost)) {
  for (const metrics::StoredFact& stored : facts) {
    const Fact& fact = stored.fact;
    if (fact.scope != metrics::Scope::whole_case) continue;
    Tally& tally = families_[fact.id.family];
    tally.cases.insert(fact.id.str());
    ++tally.verdicts[fact.verdict];
    facts_.push_back(fact);
  }
}

Tally Summary::total() const {
  Tally total;
  for (const auto& [family, tally] : families_) {
    total.cases.insert(tally.cases.begin(), tally.cases.end());
    for (const auto& [verdict, count] : tally.verdicts) total.verdicts[verdict] += count;
  }
  return total;
}

std::vector<const Fact*> Summary::with(std::initializer_list<Verdict> verdicts) const {
  std::vector<const Fact*> found;
  for (const Fact& fact : facts_) {
    if (std::ranges::find(verdicts, fact.verdict) != verdicts.end()) found.push_back(&fact);
  }
  std::ranges::stable_sort(found, {}, [](const Fact* fact) { return fact->id.str(); });
  return found;
}

std::map<std::string, int> Summary::unmeasured_reasons() const {
  std::map<std::string, int> reasons;
  for (const Fact* fact : with({Verdict::unmeasured})) {
    const bool has_value = !std::holds_alternative<std::monostate>(fact->value);
    const std::string_view how = !has_value                        ? "unmeasured"
                                 : fact->confidence == "predicted" ? "only predicted"
                                                                   : "only estimated";
    ++reasons[fmt::format("{}: {}", how, has_value ? fact->confidence_reason : fact->reason)];
  }
  return reasons;
}

std::vector<const Fact*> Summary::unsure_failures() const {
  std::vector<const Fact*> unsure = with({Verdict::unmeasured});
  std::erase_if(unsure, [](const Fact* fact) { return !metrics::would_fail(*fact); });
  return unsure;
}

std::vector<const Fact*> Summary::missing(const Requirements& requirements) const {
  std::vector<const Fact*> missing = with({Verdict::unmeasured});
  std::erase_if(missing, [&](const Fact* fact) {
    if (!metrics::is_run_time(metrics::metric(fact->metric))) return !requirements.ptxas;
    return !requirements.cupti && !(requirements.device && fact->metric == "result.correct");
  });
  return missing;
}

ExitCode Summary::exit_code(const Requirements& requirements) const {
  const auto any = [this](Verdict verdict) { return !with({verdict}).empty(); };
  if (any(Verdict::error) || total().judged() == 0) return kFault;
  if (any(Verdict::fail) || (requirements.strict && any(Verdict::better))) return kOverBudget;
  if (!missing(requirements).empty() || !lost_.empty()) return kNotMeasured;
  return kWithinBudget;
}

}  // namespace warpgauge
