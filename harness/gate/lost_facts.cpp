// Looks for facts that a gate should have and has not.
#include "harness/gate/lost_facts.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

#include "harness/measuring/blank_facts.h"
#include "harness/measuring/error_facts.h"
#include "harness/measuring/missing_facts.h"
#include "harness/process/program_name.h"
#include "harness/runtime.h"

namespace warpgauge::gate {
namespace {

using metrics::Fact;
using FactsOfCase = std::vector<const Fact*>;

/// The fact of the case on a metric, on `arch` unless that is nullptr; nullptr if there is none.
const Fact* find(const FactsOfCase& facts, std::string_view metric, const std::string* arch) {
  const auto found = std::ranges::find_if(facts, [&](const Fact* fact) {
    return fact->metric == metric && (arch == nullptr || fact->arch == *arch);
  });
  return found == facts.end() ? nullptr : *found;
}

/// Times and hardware counters that have a budget and no value.
void add_noisy(const Plan& plan, const Case& planned, const std::string& arch,
               const FactsOfCase& facts, std::vector<Fact>& lost) {
  const auto is_there = [&](std::string_view metric) {
    return find(facts, metric, nullptr) != nullptr;
  };
  const Fact blank = blank_fact(planned, arch);
  const metrics::Budgets& budgets = plan.budgets.of(planned.id);
  const std::string reason =
      plan.not_noisy.empty() ? "no times and hardware counters came back" : plan.not_noisy;
  std::ranges::move(unmeasured_facts(is_there, metrics::Source::range, reason,
                                     {blank, budgets, plan.options.counters}),
                    std::back_inserter(lost));
  std::ranges::move(
      unmeasured_facts(is_there, metrics::Source::timer,
                       process::program_name() + "-bench measures it", {blank, budgets}),
      std::back_inserter(lost));
}

void add_lost(const Plan& plan, const Case& planned, const FactsOfCase& facts,
              std::vector<Fact>& lost) {
  const Fact* const result = find(facts, "result.correct", nullptr);
  const bool runs = plan.runs(planned);
  if (runs && result == nullptr) {
    lost.push_back(error_fact(planned, "no result of this case came back"));
    return;
  }
  // After an error nothing more is to be expected.
  if (result != nullptr && result->verdict == metrics::Verdict::error) return;
  for (const std::string& arch : plan.compile_time_archs(planned)) {
    if (find(facts, "registers", &arch) != nullptr) continue;
    lost.push_back(error_fact(planned, "no compile-time facts for " + arch + " came back"));
  }
  if (!runs) return;
  for (const std::string& arch : is_emulated() ? plan.run_archs : Archs{result->arch}) {
    if (existing_on(arch, {&planned}).empty()) continue;
    if (find(facts, "result.correct", &arch) == nullptr) {
      lost.push_back(error_fact(planned, "no result of this case came back for " + arch));
    }
    if (planned.counted) add_noisy(plan, planned, arch, facts, lost);
  }
}

}  // namespace

std::vector<Fact> lost_facts(const Plan& plan, const std::vector<Fact>& facts) {
  std::map<std::string, FactsOfCase> by_case;
  for (const Fact& fact : facts) {
    if (fact.scope == metrics::Scope::whole_case) by_case[fact.id.str()].push_back(&fact);
  }
  std::vector<Fact> lost;
  for (const Case* planned : plan.cases) {
    add_lost(plan, *planned, by_case[planned->id.str()], lost);
  }
  return lost;
}

}  // namespace warpgauge::gate
