// The accesses of a kernel to local memory: spilled registers, and arrays that are not in
// registers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/machine_code/call_graph.h"
#include "metrics/machine_code/cubin.h"

namespace warpgauge::metrics {

struct LocalAccess {
  std::string function;  ///< whose code it is in: the kernel, or a function that it calls
  std::uint64_t pc = 0;
  bool is_load = false;
  int bytes = 0;          ///< of each lane
  bool is_spill = false;  ///< or a refill; never where marks_spills() is false
};

/// Whether the compiler has marked spills: that of CUDA 13 does.
bool marks_spills(const Cubin& cubin);

/// Those of `kernel` and of the functions that it calls, without instructions that never execute.
/// Throws CubinError for an architecture whose code is not known: memory_instructions().
std::vector<LocalAccess> local_accesses(const Cubin& cubin, const CallGraph& calls,
                                        const std::string& kernel);

}  // namespace warpgauge::metrics
