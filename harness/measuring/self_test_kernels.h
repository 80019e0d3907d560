// Host-side declarations of the self test's kernels. Includes nothing, because self_test.cu is
// compiled for every architecture in every program of kernels.
#pragma once

namespace warpgauge::self_test {

/// Launches a kernel with planted bank conflicts that transposes a square of 32 x 32 values.
void launch_bank_conflict(float* b, const float* a);
const void* bank_conflict_kernel();
extern const int kBankConflictLine;  ///< the line of self_test.cu to blame

/// Launches a kernel with planted spills that copies 1024 values.
void launch_spill(float* b, const float* a);

}  // namespace warpgauge::self_test
