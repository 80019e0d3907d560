// Runs all blocks of a launch.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "harness/emulator/machine/core/architecture.h"
#include "harness/emulator/machine/core/launch.h"
#include "harness/emulator/machine/core/options.h"
#include "harness/emulator/machine/core/outcome.h"
#include "harness/emulator/machine/program.h"
#include "harness/emulator/machine/thread_pool.h"

namespace warpgauge::emulator::machine {

/// Shared by launches and the machine.
struct LaunchHost {
  const Architecture& architecture;
  const Options& options;
  memory::Memory& memory;
  ThreadPool& pool;
  std::atomic<std::uint64_t>& heap_in_use;
  std::uint64_t number = 0;  ///< the launch's
};

/// A launch that runs in parts.
class LaunchRun {
 public:
  /// Throws std::invalid_argument. The kernel has been decoded; what the launch refers to must live
  /// as long.
  LaunchRun(const Kernel& kernel, const Launch& launch, const LaunchHost& host);
  ~LaunchRun();
  LaunchRun(const LaunchRun&) = delete;
  LaunchRun& operator=(const LaunchRun&) = delete;

  /// Runs on until all blocks have ended. False: for so long it has only waited for memory to
  /// change, and can be run on, by another thread, too. Throws Fault.
  bool run(std::optional<std::chrono::milliseconds> patience = std::nullopt);
  /// Once, when it has ended.
  LaunchOutcome take_outcome();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// All of a launch at once. Throws Fault, std::invalid_argument.
LaunchOutcome run_launch(const Kernel& kernel, const Launch& launch, const LaunchHost& host);

}  // namespace warpgauge::emulator::machine
