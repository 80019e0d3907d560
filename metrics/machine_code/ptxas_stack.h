// Doubts the stacks of kernels where ptxas may have left out frames of what they call.
#pragma once

#include <cstddef>
#include <vector>

#include "metrics/machine_code/ptxas.h"

namespace warpgauge::metrics {

/// Sets stack_doubt of each kernel with a function that calls itself. It may also be a function of
/// a kernel in front of it that ends its module, if compilers ran at once: those are doubtful, too.
/// `module_ends`: places in `kernels`.
void doubt_stacks(std::vector<PtxasKernel>& kernels, const std::vector<std::size_t>& module_ends);

}  // namespace warpgauge::metrics
