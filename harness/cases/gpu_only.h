// Cases that cannot run everywhere. Some need a GPU: those that the emulator does not have, because
// they call a library or launch kernels from kernels, and those that are registered as gpu_only().
#pragma once

#include <string>
#include <vector>

#include "harness/cases/selection.h"

namespace warpgauge {

struct Case;

/// Why this program cannot run the case as `arch`, a sentence; empty if it can.
std::string why_not_run(const Case& one, const std::string& arch);

/// The ids of the selected cases that need a GPU: the program for GPUs, which lies beside this one,
/// has them and this one, on the emulator, has not. None on a GPU, and where that program was not
/// built.
std::vector<std::string> gpu_only_cases(const Selection& selection);

}  // namespace warpgauge
