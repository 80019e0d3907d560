// The GPU that the machine emulates.
#pragma once

#include <cstdint>

namespace warpgauge::emulator::machine {

/// Its limits, as the machine enforces them.
struct Architecture {
  int major = 9, minor = 0;
  int multiprocessors = 132;
  std::uint32_t shared_per_block = 48 * 1024;  ///< without opt-in
  std::uint32_t shared_per_block_opt_in = 227 * 1024;
  std::uint32_t max_threads_per_block = 1024;
};

}  // namespace warpgauge::emulator::machine
