// Cases that the emulator does not have: those that call a library, or launch kernels from kernels.
#pragma once

#include <string>
#include <vector>

namespace warpgauge {

/// The ids of the cases that match, as Registry::select() says, and need a GPU: the program for
/// GPUs, which lies beside this one, has them and this one, on the emulator, has not. None on a
/// GPU, and where that program was not built.
std::vector<std::string> gpu_only_cases(const std::string& pattern, bool with_large);

}  // namespace warpgauge
