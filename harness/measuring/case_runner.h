// Runs a case: checks its result, and counts the work of the hardware.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cases/launch_log.h"
#include "harness/cases/registry.h"
#include "harness/process/gpu_turns.h"
#include "harness/process/worker_pool.h"
#include "harness/runtime.h"
#include "metrics/budgets/budget.h"
#include "metrics/counting/line_counts.h"
#include "metrics/facts/fact.h"
#include "warpgauge/comparison.h"

namespace warpgauge {

/// Measures cases at run time, as far as this process can. Make it before the first launch.
class CaseRunner {
 public:
  /// `use_counters` false counts nothing, so that another profiler can attach to the program.
  /// Throws metrics::CudaError for a GPU that is there and cannot be used. Processes that share a
  /// GPU count one after the other by `turns`, because slices of its time cost more.
  explicit CaseRunner(bool use_counters, const process::GpuTurns* turns = nullptr);

  /// Why nothing can be run here ("no CUDA device ..."); empty if cases can be run.
  const std::string& no_device() const { return no_device_; }
  /// Why counters cannot be read; empty if they can.
  const std::string& no_counters() const { return no_counters_; }
  const std::optional<metrics::Device>& device() const { return device_; }
  std::string arch() const;  ///< running_arch(), or empty without a device

  /// Runs the case, compares its result, counts what it did, and returns the facts, not yet judged:
  /// those of the case, then those of its lines. Metrics with a budget that could not be counted
  /// are there as unmeasured, with the reason. A case whose run fails gives one fact with the
  /// verdict error; `broken()` then says whether the device can still be used.
  std::vector<metrics::Fact> run(const Case& test_case, const metrics::Budgets& budgets);

  /// Runs the case and returns the errors of the run as run() does; none if it is right, or its
  /// findings are waived. Nothing is measured. A case without elements need not launch a kernel,
  /// nor compare anything.
  std::vector<metrics::Fact> errors_of(const Case& test_case, const metrics::Budgets& budgets);

  /// True after an error that leaves the CUDA context unusable: no further case can be run.
  bool broken() const { return broken_; }
  /// The result of IsolatedWork::work after run(). On a GPU a fault of another process, also of
  /// another program, can break the context of this one (seen on an H200: an illegal address), so
  /// the case is run again before it is blamed.
  process::ItemEnd end_of_item(bool is_again) const;

 private:
  /// One launch of a case.
  struct Launched {
    std::vector<LaunchRecord> launches;
    std::vector<metrics::LineCounts> lines;
    std::string not_counted;  ///< why there are no lines; empty if there are
    std::string too_little;   ///< why_too_little(), if they are there
  };
  /// A launch whose result was compared: right, or with facts that say what is wrong. Findings that
  /// the budgets waive are not wrong.
  struct Checked {
    Launched run;
    Errors distance;
    std::vector<metrics::Fact> wrong, waived;
  };
  Launched launch_once(const Case& test_case, Problem& problem);
  Checked check(const Case& test_case, const metrics::Budgets& budgets, bool may_do_nothing);
  std::vector<metrics::Fact> measure(const Case& test_case, const metrics::Budgets& budgets);
  /// The facts of what checks have found since the last call.
  std::vector<metrics::Fact> judged_findings(const Case& test_case,
                                             const metrics::Budgets& budgets) const;
  /// What `work` returns, or the fact of a CUDA error that it throws, with those findings.
  std::vector<metrics::Fact> with_errors(const Case& test_case, const metrics::Budgets& budgets,
                                         const std::function<std::vector<metrics::Fact>()>& work);

  std::string no_device_, no_counters_;
  std::optional<metrics::Device> device_;
  std::unique_ptr<LineCounter> counter_;
  const process::GpuTurns* turns_;
  bool broken_ = false;
};

/// Throws Unmeasured if a launched kernel has no counts: CUPTI can lose records silently, and a
/// loss must not pass for zero.
void need_counts_of_all(const std::vector<LaunchRecord>& launches,
                        const std::vector<metrics::LineCounts>& lines);

/// True if no call to the GPU succeeds any more, perhaps because of a fault of another process.
/// False on the emulator.
bool is_gpu_lost();

/// Launches the variant inside its NVTX range; throws metrics::CudaError if that was refused.
void launch_in_range(const Case& test_case, Problem& problem);

}  // namespace warpgauge
