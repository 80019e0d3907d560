// Writes compile-time facts, with processes for each architecture.
#include "harness/gate/compile_time.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "harness/cases/built_architectures.h"
#include "harness/cases/device_code.h"
#include "harness/gate/case_job.h"
#include "harness/measuring/compile_time_facts.h"
#include "harness/runtime.h"

namespace warpgauge::gate {
namespace {

void measure_on(const std::string& arch, const Plan& plan, FactLog& log) {
  Cases cases = log.by_result(plan.cases, [](const std::set<metrics::Verdict>& results) {
    return !results.contains(metrics::Verdict::error);
  });
  std::erase_if(
      cases, [&](const Case* planned) { return !planned->counted || !exists_on(*planned, arch); });
  CaseWork work = {.items = one_by_one(cases), .time_limit = plan.options.time_limit};
  work.begin = [&] {
    if (is_emulated()) emulate_arch(arch);
  };
  work.measure = [&](const Cases& item, bool) {
    write_compile_time_facts(*item.front(), arch, log);
    return process::ItemEnd::done;
  };
  constexpr std::size_t kWorthIt = 1000;  // cases that take longer than a process costs
  const std::size_t processes =
      std::min(plan.processes(cases.size(), false), 1 + cases.size() / kWorthIt);
  CaseJob(std::move(work), log, plan.budgets).finish("compile-time facts, " + arch, processes);
}

}  // namespace

void measure_compile_time(const Plan& plan, FactLog& log) {
  // All processes that begin here and later need both: they are read once.
  read_cubins();
  static_cast<void>(PtxasTexts::of_this_build());
  for (const std::string& arch : plan.archs) {
    const bool is_run = std::ranges::find(plan.run_archs, arch) != plan.run_archs.end();
    if (!is_run) measure_on(arch, plan, log);
  }
}

void write_compile_time_facts(const Case& measured, const std::string& arch, FactLog& log) {
  log.write(static_facts(measured, launches_on(measured, arch), arch, PtxasTexts::of_this_build()));
}

}  // namespace warpgauge::gate
