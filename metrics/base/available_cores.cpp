// Counts the cores in the affinity mask.
#include "metrics/base/available_cores.h"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace warpgauge::metrics {

int available_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace warpgauge::metrics
