// A launch with all that its kernel launches, and what that launches.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/emulator/machine/core/cpu_time.h"
#include "harness/emulator/machine/core/device_work.h"
#include "harness/emulator/runtime/kernel_run.h"
#include "harness/emulator/runtime/launch_order.h"
#include "harness/emulator/runtime/state.h"
#include "harness/emulator/runtime/work.h"

namespace warpgauge::emulator::runtime {

/// Runs `body`; a failure of it is that of a launch, which is kept.
void keeping_failures(State& state, const KernelCall& call, const std::function<void()>& body);

/// Each launch is run before what comes after it.
class LaunchTree {
 public:
  /// Throws Failure.
  LaunchTree(State& state, const KernelCall& call, const LaunchOrder::Place& place);

  /// False: a kernel waits for memory.
  bool run(std::optional<std::chrono::milliseconds> patience);
  /// To its end, without the lock where kernels run.
  void run_in_background();

 private:
  bool run_with(const std::function<bool()>& run_kernel);
  void add(std::vector<machine::DeviceWork> work);
  void begin_next();
  /// Whether the launches took more than a launch may in all, which is then kept as a fault.
  bool is_too_long();
  void begin(const KernelCall& call, const LaunchOrder::Place& place = {});
  void begin(const machine::DeviceLaunch& launch);
  void begin(const machine::DeviceCopy& copy);
  void begin(const machine::DeviceFill& fill);

  State& state_;
  const std::string kernel_;
  const machine::CpuClock::time_point begun_ = machine::CpuClock::now();
  Module* module_ = nullptr;
  std::unique_ptr<KernelRun> current_;
  std::vector<machine::DeviceWork> left_;  ///< the next one last
};

}  // namespace warpgauge::emulator::runtime
