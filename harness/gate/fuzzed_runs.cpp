// Runs trials on the GPU or on the emulator, and writes a fact for each case.
#include "harness/gate/fuzzed_runs.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/fuzz/fuzz.h"
#include "harness/gate/runs.h"
#include "harness/measuring/blank_facts.h"
#include "harness/process/gpu_turns.h"
#include "harness/runtime.h"

namespace warpgauge::gate {
namespace {

using metrics::Fact;

/// The results of the cases on `arch`, or of all where it has no name.
std::map<std::string, Fact> results_on(const std::string& arch, FactLog& log) {
  std::map<std::string, Fact> results;
  for (const Fact& fact : log.so_far()) {
    if (fact.metric != "result.correct" || metrics::is_waived_finding(fact)) continue;
    if (!arch.empty() && fact.arch != arch) continue;
    results.insert_or_assign(fact.id.str(), fact);
  }
  return results;
}

/// The cases that ran and were right. Those that did not run get a fact that says why.
Cases right_ones(const Cases& cases, const std::map<std::string, Fact>& results, FactLog& log) {
  Cases right;
  for (const Case* tried : cases) {
    const auto result = results.find(tried->id.str());
    if (result == results.end() || result->second.verdict == metrics::Verdict::error) continue;
    if (result->second.verdict != metrics::Verdict::unmeasured) {
      right.push_back(tried);
      continue;
    }
    if (!tried->gpu_only.empty() && is_emulated()) continue;  // as its result says
    Fact fact = with_value(blank_fact(*tried, result->second.arch), fuzz::kFailsAt, {});
    fact.reason = result->second.reason;
    log.write({std::move(fact)});
  }
  return right;
}

}  // namespace

void measure_fuzzed_runs(const Plan& plan, FactLog& log) {
  if (plan.fuzzed.empty()) return;
  const process::GpuTurns turns;
  for (const std::string& arch : plan.run_archs) {
    const std::map<std::string, Fact> results = results_on(arch, log);
    const Cases cases = right_ones(existing_on(arch, plan.fuzzed), results, log);
    if (cases.empty()) continue;
    const std::size_t processes = plan.processes(cases.size(), !is_emulated());
    const std::vector<fuzz::Failure> failures =
        fuzz::failures_of(cases, plan.options.fuzz,
                          {.title = is_emulated() ? "fuzzed runs, emulated " + arch : "fuzzed runs",
                           .runner = [&] { return make_runner(plan, arch, processes, turns); },
                           .budgets = [&](const Case& tried) -> const metrics::Budgets& {
                             return plan.budgets.of(tried.id);
                           },
                           .time_limit = plan.options.time_limit,
                           .most = processes});
    for (const Case* tried : cases) {
      const auto failure = std::ranges::find(failures, tried, &fuzz::Failure::failed);
      log.write({fuzz::fact_of(*tried, results.at(tried->id.str()).arch,
                               failure == failures.end() ? nullptr : &*failure)});
    }
  }
}

}  // namespace warpgauge::gate
