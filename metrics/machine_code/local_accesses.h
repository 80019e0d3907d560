// The accesses of a kernel to local memory, which holds spilled registers and arrays.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/machine_code/call_graph.h"
#include "metrics/machine_code/cubin.h"

namespace warpgauge::metrics {

struct LocalAccess {
  std::string
      function;  ///< the function whose code has the access: the kernel, or one that it calls
  std::uint64_t pc = 0;
  bool is_load = false;
  int bytes = 0;            ///< bytes a lane
  bool is_spill = false;    ///< it is a spill or a refill; false where marks_spills() is
  bool is_indexed = false;  ///< its place in the stack is known only at run time: of an array
};

/// True if the compiler has marked spills, as CUDA 13's does.
bool marks_spills(const Cubin& cubin);

/// The accesses of `kernel` and of the functions that it calls, without instructions that never
/// execute. Throws CubinError for an architecture that memory_instructions() does not know.
std::vector<LocalAccess> local_accesses(const Cubin& cubin, const CallGraph& calls,
                                        const std::string& kernel);

}  // namespace warpgauge::metrics
