// Plans a gate: its cases, its architectures, and the sentences on what it leaves out.
#include "harness/gate/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "harness/cases/built_architectures.h"
#include "harness/cases/gpu_only.h"
#include "harness/cases/selected_cases.h"
#include "harness/process/gpu_turns.h"
#include "harness/runtime.h"
#include "metrics/base/available_cores.h"

namespace warpgauge::gate {
namespace {

Archs archs_of_runs(const Plan& plan) {
  if (!is_emulated()) return {plan.gpu.arch};
  return plan.options.archs.empty() ? Archs{default_emulated_arch()} : plan.archs;
}

std::string why_not_noisy(const GateOptions& options) {
  if (is_emulated()) return "times and hardware counters need a GPU";
  const bool is_wanted = options.use_cupti && options.bounded;
  return is_wanted ? "" : "times and hardware counters were left out by an option";
}

/// "cases left out on sm_75 and sm_80, because they need sm_90 or later: 4".
std::vector<std::string> left_out_on_archs(const Plan& plan) {
  Archs archs = plan.archs;
  for (const std::string& arch : plan.run_archs) {
    if (!arch.empty() && std::ranges::find(archs, arch) == archs.end()) archs.push_back(arch);
  }
  std::map<std::string, std::set<const Case*>> by_need;
  for (const Case* planned : plan.cases) by_need[needs_text(*planned)].insert(planned);
  std::vector<std::string> left_out;
  for (const auto& [need, cases] : by_need) {
    Archs without;
    std::ranges::copy_if(archs, std::back_inserter(without), [&](const std::string& arch) {
      return !exists_on(**cases.begin(), arch);
    });
    if (without.empty()) continue;
    left_out.push_back(fmt::format("cases left out on {}, because they need {}: {}",
                                   fmt::join(without, ", "), need, cases.size()));
  }
  return left_out;
}

/// Throws std::invalid_argument for a trial that one of them does not allow.
Cases cases_to_fuzz(const Plan& plan) {
  const fuzz::Asked& asked = plan.options.fuzz;
  if (!asked.any()) return {};
  Cases cases = plan.cases;
  std::erase_if(cases, [&](const Case* planned) {
    return !plan.options.selection.takes(planned->id.str()) || !plan.runs(*planned);
  });
  cases = fuzz::cases_to_fuzz(cases);
  for (const Case* tried : cases) {
    if (!asked.only) continue;
    if (const std::string why = fuzz::why_not_allowed(*tried, *asked.only); !why.empty()) {
      throw std::invalid_argument(why);
    }
  }
  return cases;
}

std::vector<std::string> left_out_of(const Plan& plan) {
  const Selection& selection = plan.options.selection;
  std::vector<std::string> left_out = Registry::instance().left_out(selection);
  const std::size_t gpu_only = gpu_only_cases(selection).size();
  if (gpu_only > 0) {
    left_out.push_back(fmt::format("cases left out because they need a GPU: {}", gpu_only));
  }
  std::ranges::move(left_out_on_archs(plan), std::back_inserter(left_out));
  if (const std::size_t alone = fuzz::count_seeds_alone(plan.fuzzed); alone > 0) {
    left_out.push_back(fmt::format(
        "cases fuzzed with other seeds alone, as their problems allow no other sizes: {} of {}",
        alone, plan.fuzzed.size()));
  }
  return left_out;
}

}  // namespace

Archs Plan::compile_time_archs(const Case& measured) const {
  Archs with_code = measured.counted ? archs : Archs();
  std::erase_if(with_code, [&](const std::string& arch) { return !exists_on(measured, arch); });
  return with_code;
}

bool Plan::runs(const Case& measured) const {
  return std::ranges::any_of(run_archs, [&](const std::string& arch) {
    return arch.empty() || exists_on(measured, arch);
  });
}

std::size_t Plan::processes(std::size_t count, bool use_gpu) const {
  constexpr std::size_t kMost = 16;  // each has a copy of its case
  if (use_gpu && gpu.is_exclusive) return 1;
  if (options.jobs != 0) return options.jobs;
  if (use_gpu) return process::processes_on_gpu(count, false);
  return std::min(static_cast<std::size_t>(metrics::available_cores()), kMost);
}

Plan make_plan(const GateOptions& options, const FamilyBudgets& budgets) {
  Plan plan{.options = options,
            .budgets = budgets,
            .cases = {},
            .archs = chosen_archs(options.archs),
            .gpu = {},
            .run_archs = {},
            .fuzzed = {},
            .not_noisy = why_not_noisy(options),
            .left_out = {}};
  plan.cases = selected_cases(Registry::instance(), budgets, options.selection);
  plan.gpu = ask_gpu(options.time_limit);
  plan.run_archs = archs_of_runs(plan);
  plan.fuzzed = cases_to_fuzz(plan);
  plan.left_out = left_out_of(plan);
  return plan;
}

void announce(const Plan& plan) {
  if (is_emulated()) {
    fmt::print("kernels run on the emulator, as {}\n", fmt::join(plan.run_archs, ", "));
  } else {
    fmt::print("{}\n", plan.gpu.arch.empty() ? "kernels do not run: no GPU answers here"
                                             : "kernels run on the GPU");
  }
  for (const std::string& line : plan.budgets.about()) fmt::print("{}\n", line);
  for (const std::string& sentence : plan.left_out) fmt::print("{}\n", sentence);
  if (!plan.fuzzed.empty()) {
    const std::size_t alone = fuzz::count_seeds_alone(plan.fuzzed);
    fmt::print(
        "cases to fuzz, where they are right: {} at other sizes, {} with other seeds alone\n",
        plan.fuzzed.size() - alone, alone);
  }
  for (const Case* planned : plan.cases) {
    if (plan.options.selection.takes(planned->id.str())) continue;
    fmt::print("run, too, because budgets are multiples of it: {}\n", planned->id.str());
  }
  std::fflush(stdout);
}

Cases existing_on(const std::string& arch, Cases cases) {
  if (arch.empty()) return cases;
  std::erase_if(cases, [&](const Case* planned) { return !exists_on(*planned, arch); });
  return cases;
}

}  // namespace warpgauge::gate
