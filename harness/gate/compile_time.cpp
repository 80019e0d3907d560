// Writes compile-time facts: of most cases for all architectures at once, as they launch the same
// on each of them.
#include "harness/gate/compile_time.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/cases/built_architectures.h"
#include "harness/cases/device_code.h"
#include "harness/gate/case_job.h"
#include "harness/measuring/compile_time_facts.h"
#include "harness/runtime.h"

namespace warpgauge::gate {
namespace {

constexpr std::string_view kOfEveryCase = "registers";  // each measured case has this fact

/// The launches of the case on every architecture, found by one dry run; nothing where it fails, or
/// asks the device, on which they may depend.
std::optional<std::vector<LaunchRecord>> launches_everywhere(const Case& measured) {
  take_device_use();  // forgets what was used before
  try {
    std::vector<LaunchRecord> launches = dry_launches(measured);
    if (!take_device_use()) return launches;
  } catch (const std::exception&) {
    // The job for one architecture tries again, and says what is wrong.
  }
  return std::nullopt;
}

/// The cases without an error so far that `is_wanted` takes.
Cases cases_left(const Plan& plan, FactLog& log,
                 const std::function<bool(const Case&)>& is_wanted) {
  Cases cases = log.by_result(plan.cases, [](const std::set<metrics::Verdict>& results) {
    return !results.contains(metrics::Verdict::error);
  });
  std::erase_if(cases,
                [&](const Case* planned) { return !planned->counted || !is_wanted(*planned); });
  return cases;
}

void finish(CaseWork work, const Plan& plan, FactLog& log, const std::string& title,
            std::size_t facts_of_case) {
  constexpr std::size_t kWorthIt = 1000;  // facts that take longer than a process costs
  const std::size_t cases = work.items.size();
  const std::size_t processes =
      std::min(plan.processes(cases, false), 1 + cases * facts_of_case / kWorthIt);
  CaseJob(std::move(work), log, plan.budgets).finish(title, processes);
}

void measure_on_all(const Archs& archs, const Plan& plan, FactLog& log) {
  const Cases cases = cases_left(plan, log, [](const Case&) { return true; });
  CaseWork work = {.items = one_by_one(cases), .time_limit = plan.options.time_limit};
  work.measure = [&](const Cases& item, bool /*is_again*/) {
    const Case& measured = *item.front();
    if (const auto launches = launches_everywhere(measured)) {
      std::vector<metrics::Fact> facts;
      for (const std::string& arch : archs) {
        if (!exists_on(measured, arch)) continue;
        std::ranges::move(static_facts(measured, *launches, arch), std::back_inserter(facts));
      }
      log.write(std::move(facts));
    }
    return process::ItemEnd::done;
  };
  finish(std::move(work), plan, log, "compile-time facts", archs.size());
}

/// Measures the cases that have no compile-time facts on `arch` yet. The emulator stands for it.
void measure_rest_on(const std::string& arch, const Plan& plan, FactLog& log) {
  std::set<std::string> known;
  for (const metrics::Fact& fact : log.so_far()) {
    if (fact.metric == kOfEveryCase && fact.arch == arch) known.insert(fact.id.str());
  }
  const Cases cases = cases_left(plan, log, [&](const Case& planned) {
    return exists_on(planned, arch) && !known.contains(planned.id.str());
  });
  if (cases.empty()) return;
  CaseWork work = {.items = one_by_one(cases), .time_limit = plan.options.time_limit};
  work.begin = [&] {
    if (is_emulated()) emulate_arch(arch);
  };
  work.measure = [&](const Cases& item, bool /*is_again*/) {
    write_compile_time_facts(*item.front(), arch, log);
    return process::ItemEnd::done;
  };
  finish(std::move(work), plan, log, "compile-time facts, " + arch, 1);
}

}  // namespace

void measure_compile_time(const Plan& plan, FactLog& log) {
  // All processes that begin here and later need them: they are read once.
  read_cubins();
  Archs archs = plan.archs;
  std::erase_if(archs, [&](const std::string& arch) {
    return std::ranges::find(plan.run_archs, arch) != plan.run_archs.end();
  });
  if (archs.empty()) return;
  measure_on_all(archs, plan, log);
  for (const std::string& arch : archs) measure_rest_on(arch, plan, log);
}

void write_compile_time_facts(const Case& measured, const std::string& arch, FactLog& log) {
  log.write(static_facts(measured, launches_on(measured, arch), arch));
}

}  // namespace warpgauge::gate
