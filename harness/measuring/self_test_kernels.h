// Host-side declarations of the self test's kernels. Includes nothing, because self_test.cu is
// compiled for every architecture in every program of kernels.
#pragma once

namespace warpgauge::self_test {

/// A kernel with a planted defect. It turns a square of 32 x 32 values over its diagonal.
void launch_bank_conflict(float* b, const float* a);
const void* bank_conflict_kernel();
extern const int kBankConflictLine;  ///< of self_test.cu: the line to blame

/// A kernel with a planted defect. It copies 1024 values.
void launch_spill(float* b, const float* a);

}  // namespace warpgauge::self_test
