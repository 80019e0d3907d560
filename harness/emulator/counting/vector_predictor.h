// Predicts which accesses ptxas widens, where there is no machine code to compare with.
#pragma once

#include <span>

#include "harness/emulator/counting/ptx_accesses.h"
#include "harness/emulator/machine/core/access_plan.h"

namespace warpgauge::emulator::counting {

/// ptxas was seen to merge plain loads, and plain stores, of 4 or 8 bytes of shared memory into one
/// of 8 or 16 if they stand in one basic block, begin with one base register, lie side by side, and
/// are provably aligned. `accesses` are those of a kernel (accesses_of()).
machine::AccessPlans predict_vectors(std::span<const PtxAccess> accesses);

}  // namespace warpgauge::emulator::counting
