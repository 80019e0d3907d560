// A kernel that launches kernels: one for each row, as large as the row is.
#include "kernels/dynamic_parallelism/problem.h"

namespace dynamic_parallelism {

__global__ void advance_row(std::uint32_t* row, int length) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < length) row[i] = 3 * row[i] + 1;
}

// Ends when the kernels that it launched have ended.
__global__ void kernel_for_each_row(std::uint32_t* x, const std::int32_t* lengths, int rows) {
  const int row = blockIdx.x * kThreads + threadIdx.x;
  if (row >= rows || lengths[row] == 0) return;
  const int blocks = (lengths[row] + kThreads - 1) / kThreads;
  advance_row<<<blocks, kThreads>>>(x + row * kPitch, lengths[row]);
}

WARPGAUGE_FAMILY(dynamic_parallelism) {
  const auto u32 = family.problem<Rows>("u32", {{64}, {1000}})
                       .sizes_between({1}, {1000})
                       .relative_to("blocks_for_longest");
  u32.uncounted("kernel_for_each_row", [](Rows& p) {
    const int blocks = (p.rows + kThreads - 1) / kThreads;
    kernel_for_each_row<<<blocks, kThreads>>>(p.x, p.lengths, p.rows);
  });
}

}  // namespace dynamic_parallelism
