#include "harness/bounded_facts.h"

#include <memory>

#include "harness/case_facts.h"
#include "harness/meter.h"
#include "harness/process/one_process.h"
#include "harness/runtime.h"
#include "harness/static_facts.h"
#include "metrics/cupti.h"
#include "warpgauge/problem.h"

namespace warpgauge {

namespace {

using metrics::Fact;

std::vector<Fact> profiled_facts(const std::vector<const Case*>& cases, const std::string& arch,
                                 const std::string& device) {
  constexpr int kRounds = 5;
  metrics::RangeProfiler profiler;
  std::vector<std::unique_ptr<Problem>> problems;
  std::vector<metrics::RangeItem> items;
  for (const Case* one : cases) {
    Problem* problem = problems.emplace_back(one->make_problem()).get();
    items.push_back({.name = one->id.str(),
                     .prepare = [problem] { problem->reset(); },
                     .launch = [one, problem] { launch_in_range(*one, *problem); }});
  }
  const auto measured = profiler.measure(items, kRounds);
  std::vector<Fact> facts;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Fact blank = launched_fact(*cases[i], dry_launches(*cases[i]), arch, device);
    for (const auto& [metric, value] : measured.at(i)) {
      Fact fact = blank;
      fact.metric = metric;
      fact.value = value;
      fact.source = "cupti-range";
      fact.confidence = "estimate";
      fact.confidence_reason = "times and hardware counters differ from run to run";
      facts.push_back(std::move(fact));
    }
  }
  return facts;
}

}  // namespace

std::vector<Fact> bounded_facts(const std::vector<const Case*>& cases, const std::string& arch,
                                const std::string& device) {
  if (is_emulated()) throw metrics::Unmeasured("times and hardware counters need a GPU", "");
  std::vector<Fact> facts;
  process::in_one_process(cases.size() == 1 ? "the case" : "one of the cases",
                          [&] { facts = profiled_facts(cases, arch, device); });
  return facts;
}

bool has_bounded_budget(const Case& one, const std::string& arch, const metrics::Budgets& budgets) {
  return !missing_facts({}, metrics::Source::range, blank_fact(one, arch), "", budgets).empty();
}

}  // namespace warpgauge
