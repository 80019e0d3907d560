// Runs cases in child processes, on the GPU or on the emulator.
#include "harness/gate/runs.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/gate/compile_time.h"
#include "harness/measuring/case_runner.h"
#include "harness/measuring/self_test.h"
#include "harness/process/gpu_turns.h"
#include "harness/process/isolated_text.h"
#include "harness/runtime.h"
#include "metrics/base/available_cores.h"
#include "metrics/facts/catalog.h"

namespace warpgauge::gate {
namespace {

/// A run on the emulator as `arch`, or on the GPU, where that is empty.
struct RunKind {
  std::string arch;
  std::size_t processes = 1;  ///< at once
  Counts counts = Counts::here;
  const CoverageFile* coverage = nullptr;  ///< gets what kernels ran; may be missing
};

constexpr std::chrono::seconds kTimeToSayWhere{2};

bool is_count(const metrics::Fact& fact) {
  const metrics::Source source = metrics::metric(fact.metric).source;
  return source == metrics::Source::sass || source == metrics::Source::emulator;
}

/// Runs one case after the other in a child process.
class Runs {
 public:
  Runs(const Plan& plan, FactLog& log, RunKind kind)
      : plan_(plan), log_(log), kind_(std::move(kind)) {}

  void begin() {
    if (kind_.coverage != nullptr) count_coverage();
    runner_ = make_runner(plan_, kind_.arch, kind_.processes, turns_);
    if (runner_->device()) log_.add_device(*runner_->device());
  }

  process::ItemEnd measure(const Case& measured, bool is_again) {
    const Archs archs = plan_.compile_time_archs(measured);
    const std::string arch = runner_->arch();
    if (!is_again && std::ranges::find(archs, arch) != archs.end()) {
      write_compile_time_facts(measured, arch, log_);
    }
    std::vector<metrics::Fact> facts = runner_->run(measured, plan_.budgets.of(measured.id));
    const process::ItemEnd end = runner_->end_of_item(is_again);
    if (end == process::ItemEnd::again) return end;
    if (kind_.counts == Counts::emulated_program) std::erase_if(facts, is_count);
    log_.write(std::move(facts));
    if (kind_.coverage != nullptr) kind_.coverage->add(take_coverage());
    return end;
  }

 private:
  const Plan& plan_;
  FactLog& log_;
  const RunKind kind_;
  const process::GpuTurns turns_;       ///< turns of the children on the GPU
  std::unique_ptr<CaseRunner> runner_;  ///< is only ever made in a child
};

CaseWork runs_work(const Plan& plan, FactLog& log, const Cases& cases, const RunKind& kind) {
  const auto runs = std::make_shared<Runs>(plan, log, kind);
  return {.items = one_by_one(cases),
          .begin = [=] { runs->begin(); },
          .measure = [=](const Cases& item,
                         bool is_again) { return runs->measure(*item.front(), is_again); },
          .arch = kind.arch,
          .time_limit = plan.options.time_limit};
}

Cases without_error(const Plan& plan, FactLog& log) {
  return log.by_result(plan.cases, [](const std::set<metrics::Verdict>& results) {
    return !results.contains(metrics::Verdict::error);
  });
}

/// Adds all code of the program's cases for `arch`, so that what never runs is seen.
void cover_code(const Plan& plan, const std::string& arch, const CoverageFile& coverage) {
  process::isolated_text(
      [&] {
        emulate_arch(arch);
        metrics::Coverage code = code_to_cover();
        std::erase_if(code, [](const auto& file) { return is_of_self_test(file.first); });
        coverage.add(code);
        return "";
      },
      plan.options.time_limit);
}

}  // namespace

std::unique_ptr<CaseRunner> make_runner(const Plan& plan, const std::string& arch,
                                        std::size_t processes, const process::GpuTurns& turns) {
  if (!is_emulated()) return std::make_unique<CaseRunner>(plan.options.use_cupti, &turns);
  // The emulator's limit ends before that of the case, as it can say where the kernel was, also on
  // a machine with much else to do. The processes share the cores.
  const std::chrono::milliseconds limit = plan.options.time_limit;
  emulate_arch(arch, limit - std::min<std::chrono::milliseconds>(limit / 2, kTimeToSayWhere),
               std::max(1, metrics::available_cores() / static_cast<int>(processes)));
  OtherOrders orders = plan.options.orders;
  orders.out = plan.options.out;
  check_accesses(plan.options.checks, orders);
  return std::make_unique<CaseRunner>(plan.options.use_cupti);
}

std::unique_ptr<CaseJob> start_runs_on_gpu(const Plan& plan, FactLog& log, Counts counts) {
  const Cases cases = existing_on(plan.gpu.arch, plan.cases);
  // Only one process at a time may use an exclusive GPU.
  const std::size_t early = plan.gpu.is_exclusive ? 0 : plan.processes(cases.size(), true);
  return std::make_unique<CaseJob>(runs_work(plan, log, cases, {.arch = "", .counts = counts}), log,
                                   plan.budgets, early);
}

void measure_runs_on_gpu(const Plan& plan, FactLog& log, CaseJob& started) {
  const Cases cases = without_error(plan, log);
  started.only(cases);
  started.finish("run-time facts", plan.processes(cases.size(), true));
}

void measure_emulated_runs(const Plan& plan, FactLog& log,
                           const std::optional<CoverageFile>& coverage) {
  const Cases cases = without_error(plan, log);
  for (const std::string& arch : plan.run_archs) {
    if (coverage) cover_code(plan, arch, *coverage);
    const Cases on_arch = existing_on(arch, cases);
    const std::size_t processes = plan.processes(on_arch.size(), false);
    const RunKind kind = {.arch = arch,
                          .processes = std::min(processes, on_arch.size()),
                          .coverage = coverage ? &*coverage : nullptr};
    CaseJob(runs_work(plan, log, on_arch, kind), log, plan.budgets)
        .finish("run-time facts, emulated " + arch, processes);
  }
}

}  // namespace warpgauge::gate
