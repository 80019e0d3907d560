// Whether the parts of a cubin agree. Parts find each other by name, so that one damaged letter
// hides a part.
#pragma once

#include "metrics/machine_code/cubin.h"

namespace warpgauge::metrics {

/// Throws CubinError for a kernel without code, registers or other resources, code and resources
/// without their function, parts of a kernel that is not there, parts of another type than their
/// name says, damaged names and records, relocations of a section that is not there, notes of no
/// known name, and spills where there is no instruction.
void check_parts(const Cubin& cubin);

}  // namespace warpgauge::metrics
