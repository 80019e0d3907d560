// Watches clocks, temperature and other processes of the GPU while something is timed on it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "metrics/cupti/nvml.h"
#include "metrics/facts/fact.h"

namespace warpgauge {

/// Watches a device through NVML.
class GpuMonitor {
 public:
  /// Make it before the first CUDA context of this process: contexts that exist then belong to
  /// other processes. Without NVML there are no states.
  explicit GpuMonitor(int device);

  /// Why there are no states; empty where there are.
  const std::string& why_not() const { return why_not_; }

  /// Call it before what is timed. The state at the last end() is the one before, if that is no
  /// longer ago than 100 ms: a question to NVML takes 3 ms, as long as a timing does.
  void begin();
  /// The state around the timing since begin(); nullopt without NVML.
  std::optional<metrics::MachineState> end();

 private:
  std::unique_ptr<metrics::NvmlMonitor> monitor_;
  std::string why_not_;
  int others_at_first_ = 0;
  metrics::GpuState before_, last_;
  std::chrono::steady_clock::time_point last_time_;  // when that was the state
};

/// Why times are unfit to become budgets: throttled clocks, other processes on the GPU; empty if
/// they are fit.
std::string disturbance(const metrics::MachineState& machine);

}  // namespace warpgauge
