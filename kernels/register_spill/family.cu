// For each element of a column of 128 elements, the sum of the others: b = sum - a.
//
// A thread that keeps its column until the sum is known needs 128 registers for it (`uncapped`). A
// cap on registers makes the compiler put the rest into local memory (spill.store_bytes,
// spill.load_bytes, local.sectors). The promise of large blocks is a cap: 65536 registers are 64
// for each of 1024 threads (`capped_by_launch_bounds`). So is a number, for one kernel
// (`capped_by_maxnreg`) or for a file by nvcc's -maxrregcount (`capped_by_flag`): 32 gives full
// occupancy (occupancy.theoretical), and more spills. The cure is to need fewer registers:
// `reloaded` reads the column again and keeps nothing.
#include "kernels/register_spill/problem.h"

namespace register_spill {

__global__ void uncapped(int* b, const int* a) { keep_and_subtract(b, a); }

// The launch has 128 threads a block. The promise of up to 1024 alone makes the cap.
__global__ void __launch_bounds__(1024) capped_by_launch_bounds(int* b, const int* a) {
  keep_and_subtract(b, a);
}

__global__ void __maxnreg__(32) capped_by_maxnreg(int* b, const int* a) { keep_and_subtract(b, a); }

// It loads everything twice. The second load may hit a cache.
__global__ void __maxnreg__(32) reloaded(int* b, const int* a) {
  a += blockIdx.x * kElements + threadIdx.x;
  b += blockIdx.x * kElements + threadIdx.x;
  int sum = 0;
  for (int row = 0; row < kRows; ++row) sum += a[row * kColumns];
  for (int row = 0; row < kRows; ++row) b[row * kColumns] = sum - a[row * kColumns];
}

WARPGAUGE_FAMILY(register_spill) {
  const auto i32 = family.problem<SumsOfOthers>("i32", kSizes).sizes_between({1}, {32});
  i32.variant("uncapped", [](SumsOfOthers& p) { launch(p, uncapped); });
  i32.variant("capped_by_launch_bounds",
              [](SumsOfOthers& p) { launch(p, capped_by_launch_bounds); });
  i32.variant("capped_by_maxnreg", [](SumsOfOthers& p) { launch(p, capped_by_maxnreg); });
  i32.variant("reloaded", [](SumsOfOthers& p) { launch(p, reloaded); });
}

}  // namespace register_spill
