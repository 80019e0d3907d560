// How kernels run.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

#include "harness/emulator/machine/core/checks.h"

namespace warpgauge::emulator::machine {

struct Options {
  int threads = 0;               ///< threads that run blocks; 0: all that the process may use
  std::uint64_t step_limit = 0;  ///< warp instructions of a block; 0: none
  std::chrono::milliseconds time_limit{0};  ///< a launch's; 0: none
  /// A launch's, in CPU time of the process, or as time in which its threads wait and nothing
  /// changes; 0: none.
  std::chrono::milliseconds cpu_limit{0};
  Checks checks;
  int schedules = 0;              ///< other orders of warps and blocks to compare each launch with
  std::uint64_t stack_bytes = 0;  ///< local memory a thread may use in all; 0: 512 KiB
  std::uint64_t heap_bytes = 8 << 20;  ///< for malloc in kernels
  std::uint64_t printf_bytes = 1 << 20;
  std::function<void(std::string_view)> print;     ///< gets what kernels print; empty: stdout
  std::function<void(std::string_view)> progress;  ///< gets how far long work is; empty: nothing
  /// Whether the program waits for the launch that runs, so that it changes no memory meanwhile;
  /// empty: it does.
  std::function<bool()> program_waits;
};

}  // namespace warpgauge::emulator::machine
