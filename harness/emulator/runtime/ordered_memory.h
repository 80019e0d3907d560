// Memory that was allocated in the order of a stream.
#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <string>
#include <vector>

#include "harness/emulator/machine/core/finding.h"
#include "harness/emulator/runtime/launch_order.h"

namespace warpgauge::emulator::runtime {

struct OrderedMemory {
  /// What a launch or a copy has done with it.
  struct Uses {
    LaunchOrder::Mark when;
    std::string kernel;  ///< empty: a copy
    std::vector<machine::MemoryUse> how;
  };
  LaunchOrder::Mark allocated;
  std::map<cudaStream_t, Uses> last = {};  ///< by stream
};

}  // namespace warpgauge::emulator::runtime
