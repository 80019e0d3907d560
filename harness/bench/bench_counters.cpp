// Counts the cases of a benchmark in child processes.
#include "harness/bench/bench_counters.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "harness/ctest_device.h"
#include "harness/devices.h"
#include "harness/files/temporary_path.h"
#include "harness/measuring/case_runner.h"
#include "harness/measuring/provenance.h"
#include "harness/process/gpu_turns.h"
#include "harness/process/isolated_text.h"
#include "harness/process/progress.h"
#include "harness/process/worker_pool.h"
#include "harness/runtime.h"
#include "metrics/facts/fact.h"

namespace warpgauge::bench {
namespace {

namespace fs = std::filesystem;

/// The counts that benchmarks show.
constexpr const char* kShown[] = {"shared.bank_conflicts", "global.load.sectors",
                                  "global.store.sectors", "global.excess_sectors", "local.sectors"};

bool is_shown(const metrics::Fact& fact) {
  return fact.scope != metrics::Scope::line &&
         std::ranges::find(kShown, fact.metric) != std::end(kShown);
}

std::size_t processes_for(std::size_t cases) {
  if (is_emulated()) return 1;
  constexpr std::chrono::seconds kPatience{120};  // for a GPU that is busy
  const std::string exclusive = process::isolated_text(
      [] {
        use_assigned_device();
        return std::string(is_exclusive_device() ? "yes" : "");
      },
      kPatience);
  return process::processes_on_gpu(cases, !exclusive.empty());
}

}  // namespace

CountedCases count_cases(const std::vector<const Case*>& cases) {
  CountedCases counted;
  const files::TemporaryPath file = files::TemporaryPath::file();
  const process::GpuTurns turns;
  std::optional<CaseRunner> meter;  // only ever filled in children
  metrics::FactWriter writer(file.path(), start_run("bench", {}));
  process::Progress progress("counts", cases.size());
  process::IsolatedWork work = {.count = cases.size()};
  work.begin = [&] {
    use_assigned_device();
    meter.emplace(true, is_emulated() ? nullptr : &turns);
    writer.reopen();
  };
  work.work = [&](const process::WorkOrder& order) {
    std::vector<metrics::Fact> facts;
    try {
      facts = meter->run(*cases[order.item], metrics::Budgets());
    } catch (const std::exception&) {
      if (order.is_again || !is_gpu_lost()) throw;
      return process::ItemEnd::again;
    }
    const process::ItemEnd end = meter->end_of_item(order.is_again);
    if (end == process::ItemEnd::again) return end;
    std::erase_if(facts, std::not_fn(is_shown));
    writer.write(facts);
    return end;
  };
  work.done = [&](std::size_t i) { progress.done(cases[i]->id.str()); };
  work.died = [&](const process::CrashedItem& crashed) { counted.why_not = crashed.reason; };
  process::run_isolated(work, processes_for(cases.size()));
  for (const metrics::StoredRun& run : metrics::read_facts(file.path())) {
    for (const metrics::Fact& fact : run.facts) {
      const double* value = std::get_if<double>(&fact.value);
      if (value != nullptr) {
        counted.counts[fact.id.str()][fact.metric] = *value;
      } else {
        counted.why_not = fact.reason;
      }
    }
  }
  return counted;
}

}  // namespace warpgauge::bench
