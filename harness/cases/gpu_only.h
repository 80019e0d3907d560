// Cases that do not run everywhere. Some need a GPU: the emulator's program lacks cases that call a
// library or launch kernels from kernels, and gpu_only() marks others.
#pragma once

#include <string>
#include <vector>

#include "harness/cases/selection.h"

namespace warpgauge {

struct Case;

/// A sentence that says why this program cannot run the case as `arch`; empty if it can.
std::string why_not_run(const Case& test_case, const std::string& arch);

/// The ids of the selected cases that need a GPU: the program for GPUs, which lies beside this one,
/// has them and this one, on the emulator, has not. None on a GPU, and where that program was not
/// built.
std::vector<std::string> gpu_only_cases(const Selection& selection);

}  // namespace warpgauge
