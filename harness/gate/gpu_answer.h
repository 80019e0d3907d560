// What the gate, whose own process never touches CUDA, has to know of the GPU.
#pragma once

#include <chrono>
#include <string>

namespace warpgauge::gate {

struct GpuAnswer {
  std::string arch;           ///< the architecture whose code runs; empty: no GPU can be used
  bool is_exclusive = false;  ///< only one process may use it (nvidia-smi -c EXCLUSIVE_PROCESS)
};

/// Asks the GPU in a child process; the answer is empty on the emulator. Throws std::runtime_error
/// if the child fails or takes longer than `time_limit`.
GpuAnswer ask_gpu(std::chrono::seconds time_limit);

}  // namespace warpgauge::gate
