// Asks for facts of the GPU that child processes use, for a parent that never touches CUDA.
#pragma once

#include <chrono>
#include <string>

namespace warpgauge::gate {

struct AskedGpu {
  std::string arch;           ///< whose code runs; empty without an answer
  bool is_exclusive = false;  ///< one process only may use it (nvidia-smi -c EXCLUSIVE_PROCESS)
};

/// Asks in a child process. On the emulator there is no GPU to ask.
AskedGpu ask_gpu(std::chrono::seconds time_limit);

}  // namespace warpgauge::gate
