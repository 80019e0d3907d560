// Runs all blocks of a launch.
#pragma once

#include <atomic>
#include <cstdint>

#include "harness/emulator/machine/architecture.h"
#include "harness/emulator/machine/launch.h"
#include "harness/emulator/machine/options.h"
#include "harness/emulator/machine/outcome.h"
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
  std::uint64_t number = 0;  ///< of the launch
};

/// Throws Fault, std::invalid_argument. The kernel has been decoded.
LaunchOutcome run_launch(const Kernel& kernel, const Launch& launch, const LaunchHost& host);

}  // namespace warpgauge::emulator::machine
