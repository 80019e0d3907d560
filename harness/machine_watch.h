// What the GPU was doing while something was timed on it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "metrics/fact.h"
#include "metrics/nvml.h"

namespace warpgauge {

/// Watches a device through NVML.
class MachineWatch {
 public:
  /// Make it before the first CUDA context of this process: what is there then are others. Where
  /// NVML does not tell, `why` says so and there will be no states.
  MachineWatch(int device, std::string* why);

  /// Call it before what is timed.
  void begin();
  /// The state around what was timed since begin(); nullopt where NVML does not tell.
  std::optional<metrics::MachineState> end() const;

 private:
  std::unique_ptr<metrics::GpuMonitor> monitor_;
  int others_at_first_ = 0;
  metrics::GpuState before_;
};

/// What makes times unfit to be kept as budgets: throttled clocks, other processes on the GPU;
/// empty if nothing does.
std::string disturbance(const metrics::MachineState& machine);

}  // namespace warpgauge
