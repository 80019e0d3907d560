// Chooses the hardware counters of cases, profiles the cases in groups that fit into the memory of
// a GPU, and makes facts of the values.
#include "harness/measuring/hardware_counter_facts.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <span>
#include <utility>

#include "harness/measuring/blank_facts.h"
#include "harness/measuring/case_runner.h"
#include "harness/measuring/compile_time_facts.h"
#include "harness/process/fork_guard.h"
#include "harness/runtime.h"
#include "metrics/cupti/cupti.h"
#include "metrics/facts/counter_row.h"
#include "warpgauge/problem.h"

namespace warpgauge {

namespace {

using metrics::Fact;

void add(Counters& counters, const metrics::Metric* counter) {
  if (std::ranges::find(counters, counter) == counters.end()) counters.push_back(counter);
}

/// The facts of the measured values of a case, and of the `missing` counters that were not
/// measured.
std::vector<Fact> facts_of(const std::vector<std::pair<std::string_view, double>>& measured,
                           const Fact& blank, Counters missing) {
  std::vector<Fact> facts;
  for (const auto& [metric, value] : measured) {
    const metrics::Metric* const row = &metrics::metric(metric);
    const bool was_asked = std::erase(missing, row) != 0;
    if (!was_asked && metrics::is_counter(*row)) continue;  // other cases asked for it
    Fact fact = with_value(blank, metric, value);
    fact.source = "cupti-range";
    fact.confidence = "estimate";
    fact.confidence_reason = "times and hardware counters differ from run to run";
    facts.push_back(std::move(fact));
  }
  for (const metrics::Metric* counter : missing) {
    facts.push_back(with_value(blank, counter->id, {}));
    facts.back().reason = "this chip lacks the counter, or it is a ratio of nothing here";
  }
  return facts;
}

/// A profiler of the counters of all cases, each once. Throws metrics::Unmeasured, also where there
/// is no GPU.
metrics::RangeProfiler profiler_of(const std::vector<const Case*>& cases,
                                   const CounterSession::CountersOf& counters_of) {
  if (is_emulated()) throw metrics::Unmeasured("times and hardware counters need a GPU", "");
  Counters all;
  for (const Case* test_case : cases) {
    for (const metrics::Metric* counter : counters_of(*test_case)) add(all, counter);
  }
  return metrics::RangeProfiler(all);
}

/// Cases that are profiled together, so that they share the passes.
struct Group {
  std::vector<std::unique_ptr<Problem>> problems;  ///< what the items use
  std::vector<metrics::RangeItem> items;           ///< those of the first cases, in their order
};

/// The first of `cases`, at least one of them.
Group next_group(std::span<const Case* const> cases) {
  // The problems of a group are on the GPU at the same time. The one that goes past this limit, and
  // other processes, must find room beside them.
  constexpr double kManyBytes = 4e9;
  Group group;
  for (double bytes = 0; group.items.size() < cases.size() && bytes < kManyBytes;) {
    const Case& test_case = *cases[group.items.size()];
    Problem* problem = group.problems.emplace_back(test_case.problem()).get();
    bytes += problem->bytes();
    group.items.push_back(
        {.name = test_case.id.str(),
         .prepare = [problem] { problem->reset(); },
         .launch = [&test_case, problem] { launch_in_range(test_case, *problem); }});
  }
  return group;
}

std::vector<Fact> profiled_facts(metrics::RangeProfiler& profiler,
                                 std::span<const Case* const> cases, const std::string& arch,
                                 const std::string& device,
                                 const CounterSession::CountersOf& counters_of) {
  constexpr int kRounds = 3;
  std::vector<Fact> facts;
  while (!cases.empty()) {
    const Group group = next_group(cases);
    const auto measured = profiler.measure(group.items, kRounds);
    for (std::size_t i = 0; i < group.items.size(); ++i) {
      const Case& test_case = *cases[i];
      const Fact blank = launched_fact(test_case, dry_launches(test_case), arch, device);
      std::ranges::move(facts_of(measured.at(i), blank, counters_of(test_case)),
                        std::back_inserter(facts));
    }
    cases = cases.subspan(group.items.size());
  }
  return facts;
}

}  // namespace

CounterSession::CounterSession(const std::vector<const Case*>& cases, CountersOf counters_of)
    : counters_of_(std::move(counters_of)), profiler_(profiler_of(cases, counters_of_)) {}

std::vector<Fact> CounterSession::facts(std::span<const Case* const> cases, const std::string& arch,
                                        const std::string& device) {
  std::vector<Fact> facts;
  process::with_fork_guard(cases.size() == 1 ? "the case" : "one of the cases", [&] {
    facts = profiled_facts(profiler_, cases, arch, device, counters_of_);
  });
  return facts;
}

Counters counters_of(const Case& test_case, const std::string& arch,
                     const metrics::Budgets& budgets, const Counters& asked) {
  Counters counters = asked;
  for (const metrics::Metric* metric : budgets.metrics(test_case.id, arch)) {
    if (metric->source == metrics::Source::range) add(counters, metric);
  }
  return counters;
}

bool has_bounded_budget(const Case& test_case, const std::string& arch,
                        const metrics::Budgets& budgets) {
  return !counters_of(test_case, arch, budgets).empty();
}

}  // namespace warpgauge
