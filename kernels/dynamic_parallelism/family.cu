// Work whose amount only the device sees: rows of unequal length.
//
// Either the host launches for the longest row, and most blocks find nothing to do; or the device
// works by the length that it finds:
//   blocks_for_longest   as many blocks a row as the longest needs: more than half of the warps
//                        only read how long their row is
//   block_for_each_row   a block walks along its row: none is idle, but a long row has one block
//   kernel_for_each_row  a kernel launches a kernel for each row, as large as the row is
//                        (device_launch.rdc.cu; needs a GPU)
#include "kernels/dynamic_parallelism/problem.h"

namespace dynamic_parallelism {

__global__ void blocks_for_longest(std::uint32_t* x, const std::int32_t* lengths) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  std::uint32_t* const row = x + blockIdx.y * kPitch;
  if (i < lengths[blockIdx.y]) row[i] = 3 * row[i] + 1;
}

__global__ void block_for_each_row(std::uint32_t* x, const std::int32_t* lengths) {
  std::uint32_t* const row = x + blockIdx.x * kPitch;
  const int length = lengths[blockIdx.x];
#pragma unroll 1  // or lanes with 4 turns take other code than their neighbours with 3
  for (int i = threadIdx.x; i < length; i += kThreads) row[i] = 3 * row[i] + 1;
}

WARPGAUGE_FAMILY(dynamic_parallelism) {
  const auto u32 = family.problem<Rows>("u32", {{64}, {1000}})
                       .sizes_between({1}, {1000})
                       .relative_to("blocks_for_longest");
  u32.variant("blocks_for_longest", [](Rows& p) {
    const dim3 blocks((kLongest + kThreads - 1) / kThreads, p.rows);
    blocks_for_longest<<<blocks, kThreads>>>(p.x, p.lengths);
  });
  u32.variant("block_for_each_row",
              [](Rows& p) { block_for_each_row<<<p.rows, kThreads>>>(p.x, p.lengths); });
}

}  // namespace dynamic_parallelism
