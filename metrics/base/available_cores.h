// How many cores this process may use.
#pragma once

namespace warpgauge::metrics {

/// At least 1. Those of its affinity mask (taskset, containers), where the system tells.
int available_cores();

}  // namespace warpgauge::metrics
