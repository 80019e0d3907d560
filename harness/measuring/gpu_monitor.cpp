#include "harness/measuring/gpu_monitor.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "harness/runtime.h"
#include "metrics/cupti/cupti.h"
#include "warpgauge/cuda_error.h"

namespace warpgauge {

GpuMonitor::GpuMonitor(int device) {
  if (is_emulated()) {
    why_not_ = "the emulator has no clocks";
    return;
  }
  char bus_id[32] = {};
  WARPGAUGE_CUDA(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, device));
  try {
    monitor_ = std::make_unique<metrics::NvmlMonitor>(bus_id);
    others_at_first_ = monitor_->state().processes;
  } catch (const metrics::Unmeasured& unmeasured) {
    why_not_ = unmeasured.what();
  }
}

void GpuMonitor::begin() {
  constexpr std::chrono::milliseconds kSame{100};
  if (!monitor_) return;
  const bool is_fresh = std::chrono::steady_clock::now() - last_time_ < kSame;
  before_ = is_fresh ? last_ : monitor_->state();
}

std::optional<metrics::MachineState> GpuMonitor::end() {
  if (!monitor_) return std::nullopt;
  last_ = monitor_->state();
  last_time_ = std::chrono::steady_clock::now();
  const metrics::GpuState& after = last_;
  metrics::MachineState machine{
      .sm_clock_mhz = {before_.sm_clock_mhz, after.sm_clock_mhz},
      .memory_clock_mhz = {before_.memory_clock_mhz, after.memory_clock_mhz},
      .temperature_c = {before_.temperature_c, after.temperature_c},
      .throttling = before_.throttling};
  for (const std::string& word : after.throttling) {
    if (std::ranges::find(machine.throttling, word) == machine.throttling.end()) {
      machine.throttling.push_back(word);
    }
  }
  // In some containers NVML does not list processes, not even this one.
  machine.other_processes = std::max(others_at_first_, after.processes - 1);
  machine.disturbance = disturbance(machine);
  return machine;
}

std::string disturbance(const metrics::MachineState& machine) {
  std::vector<std::string> causes;
  if (!machine.throttling.empty()) {
    causes.push_back(fmt::format("clocks were lowered ({})", fmt::join(machine.throttling, ", ")));
  }
  if (machine.other_processes > 0) {
    causes.push_back(fmt::format("{} other process{} the GPU", machine.other_processes,
                                 machine.other_processes == 1 ? " uses" : "es use"));
  }
  return fmt::format("{}", fmt::join(causes, "; "));
}

}  // namespace warpgauge
