// The number of cores that this process may use.
#pragma once

namespace warpgauge::metrics {

/// The cores in the affinity mask of this process (taskset, containers), or all cores where the
/// system does not report it. At least 1.
int available_cores();

}  // namespace warpgauge::metrics
