// A launch by the host, with all launches that follow from it on the device.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "harness/emulator/machine/core/cpu_time.h"
#include "harness/emulator/machine/core/device_work.h"
#include "harness/emulator/runtime/kernel_run.h"
#include "harness/emulator/runtime/launch_order.h"
#include "harness/emulator/runtime/state.h"
#include "harness/emulator/runtime/work.h"

namespace warpgauge::emulator::runtime {

/// Runs `body`, which launches `call`. A Failure of it is kept as a failed launch, and thrown on.
/// `launcher`: the thread of the host that launches it; none: a kernel.
void keeping_failures(State& state, const KernelCall& call, const std::function<void()>& body,
                      std::thread::id launcher = {});

/// Runs a kernel, then each kernel that it launched along with what that launched in turn.
class LaunchTree {
 public:
  /// Begins the launch of the host; throws Failure if it cannot.
  LaunchTree(State& state, const KernelCall& call, const LaunchOrder::Place& place);

  /// Runs all kernels. Returns false if one only waits for memory to change for as long as
  /// `patience`; without it, waits on.
  bool run(std::optional<std::chrono::milliseconds> patience);
  /// Runs all kernels to their end, and releases the lock of the state while a kernel runs.
  void run_in_background();

 private:
  bool run_with(const std::function<bool()>& run_kernel);
  void add(std::vector<machine::DeviceWork> work);
  void begin_next();
  /// Whether the kernels together took longer than a launch may. If so, keeps that as a fault.
  bool is_over_limit();
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
