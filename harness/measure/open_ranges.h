// The NVTX ranges that are open on this thread, by which a measurement is named.
#pragma once

#include <string>

namespace warpgauge {

/// "outer/inner": the ranges that code of this program has pushed on this thread and not popped
/// yet, in any domain; empty if there are none, and under a tool that takes them (Nsight).
/// Ranges of shared libraries are theirs alone.
std::string open_ranges();

}  // namespace warpgauge
