// CUPTI SASS metrics: their configuration, once a process, and counting around a launch.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "metrics/cupti/cupti_context.h"
#include "metrics/cupti/sass_metrics.h"

namespace warpgauge::metrics {

/// A metric and the number that CUPTI gave it on the chip.
struct SassId {
  SassMetric metric;
  std::uint64_t id = 0;
};

/// Configures all of kSassMetrics on the device and returns their numbers. CUPTI (13.0) takes one
/// configuration a process: after UnsetConfig a second SetConfig fails with OUT_OF_MEMORY. So there
/// is one configuration, with all metrics, that stays. Throws Unmeasured.
const std::vector<SassId>& configured_metrics(const CuptiContext& context);

/// Counting on the context, between constructor and stop(): kernels run patched meanwhile.
class SassSession {
 public:
  explicit SassSession(const CuptiContext& context);  ///< throws Unmeasured
  ~SassSession();  ///< waits for the device: patched kernels may still run
  SassSession(const SassSession&) = delete;
  SassSession& operator=(const SassSession&) = delete;

  /// Instructions of the kernels that were launched since the start or the last take(), executed or
  /// not: 10,515,234 for one kernel of NCCL. Throws Unmeasured.
  std::size_t size() const;
  /// Takes the counts of the instructions that were executed since the start or the last call. The
  /// device must be idle. Throws Unmeasured.
  SassRecords take();
  /// Ends counting. Throws Unmeasured if records were dropped (take() was then incomplete),
  /// and if CUPTI goes on counting.
  void stop();
  bool is_counting() const { return counting_; }
  /// Ends the session with the context, which is about to be destroyed, and drops counts that were
  /// not taken. Counting is not switched off first: after that CUPTI (13.0) crashes at exit or in a
  /// later context with the same handle.
  void leave();

 private:
  CUcontext context_;
  const std::vector<SassId>& metrics_;
  bool counting_ = true;
};

}  // namespace warpgauge::metrics
