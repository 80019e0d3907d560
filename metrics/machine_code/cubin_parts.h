// Whether the parts of a cubin agree: one that is damaged may lack what is not asked for by number.
#pragma once

#include "metrics/machine_code/cubin.h"

namespace warpgauge::metrics {

/// Throws CubinError for a kernel without code or without resources, code and resources without
/// their function, parts of a kernel that is not there, and names that are damaged.
void check_parts(const Cubin& cubin);

}  // namespace warpgauge::metrics
