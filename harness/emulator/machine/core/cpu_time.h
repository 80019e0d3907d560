// The CPU time that this process has taken, as a clock.
#pragma once

#include <chrono>
#include <ctime>

namespace warpgauge::emulator::machine {

/// Of all threads. It stands still while others have the cores.
struct CpuClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<CpuClock>;
  static constexpr bool is_steady = true;  // NOLINT(readability-identifier-naming): as all clocks

  static time_point now() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time_point(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
  }
};

}  // namespace warpgauge::emulator::machine
