// Holds the traffic of a run against the least that its problem allows.
#pragma once

#include <string>
#include <vector>

#include "harness/cases/launch_log.h"
#include "metrics/counting/line_counts.h"

namespace warpgauge {

/// The bytes of device memory that kernels moved: whole sectors of loads and stores, atomics both
/// ways, bulk copies.
double moved_bytes(const metrics::Counts& counts);

/// Why a run cannot have done its work: it moved less than `least` bytes, those of
/// Problem::bytes(). Empty if it did, and where a part of its traffic is not counted: textures,
/// surfaces, constants, copies beside kernels, bulk copies on a GPU, estimates, and kernels of the
/// device linker, which may launch others.
std::string why_too_little(double least, const LaunchLog& log,
                           const std::vector<metrics::LineCounts>& lines, const std::string& arch);

}  // namespace warpgauge
