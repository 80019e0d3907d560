// Tiles of matrix products, for the test of what the machine code makes of wmma.
#include <mma.h>

using namespace nvcuda::wmma;

using Left = fragment<matrix_a, 16, 16, 16, half, row_major>;
using Right = fragment<matrix_b, 16, 16, 16, half, row_major>;
using Sum = fragment<accumulator, 16, 16, 16, float>;

// A from global memory, B from shared memory, a plain load and store beside them.
extern "C" __global__ void tile(float* d, const half* a, const half* b, int stride) {
  __shared__ alignas(32) half staged[256];
  for (int i = threadIdx.x; i < 256; i += 32) staged[i] = b[i];
  __syncthreads();
  Left left;
  Right right;
  Sum sum;
  fill_fragment(sum, 0.0f);
  load_matrix_sync(left, a, stride);
  load_matrix_sync(right, staged, 16);
  mma_sync(sum, left, right, sum);
  store_matrix_sync(d, sum, stride, mem_row_major);
}

// A loop that ptxas unrolls: it has seven copies of A and B.
extern "C" __global__ void row_of_tiles(float* d, const half* a, const half* b, int count) {
  Left left;
  Right right;
  Sum sum;
  fill_fragment(sum, 0.0f);
  for (int i = blockIdx.x; i < count; i += 32u) {
    load_matrix_sync(left, a + 256 * i, 16);
    load_matrix_sync(right, b + 256 * i, 16);
    mma_sync(sum, left, right, sum);
  }
  store_matrix_sync(d, sum, 16, mem_row_major);
}

// A is loaded before the loop.
extern "C" __global__ void same_tile(float* __restrict__ d, const half* __restrict__ a,
                                     const half* __restrict__ b, int count) {
  Left left;
  Right right;
  Sum sum;
  fill_fragment(sum, 0.0f);
#pragma unroll 1
  for (int i = 0; i < count; ++i) {
    load_matrix_sync(left, a, 16);
    load_matrix_sync(right, b + 256 * i, 16);
    mma_sync(sum, left, right, sum);
  }
  store_matrix_sync(d, sum, 16, mem_row_major);
}

// Half of the elements are used.
extern "C" __global__ void part_of_a_tile(float* d, const float* c) {
  Sum sum;
  load_matrix_sync(sum, c, 16, mem_row_major);
  for (int i = 0; i < 4; ++i) d[32 * i + threadIdx.x] = sum.x[i];
}

// A predicate stands for the branch.
extern "C" __global__ void tile_or_ones(int* d, const unsigned char* a, int count) {
  fragment<matrix_a, 8, 32, 16, unsigned char, row_major> left;
  fragment<matrix_b, 8, 32, 16, unsigned char, col_major> right;
  fragment<accumulator, 8, 32, 16, int> sum;
  fill_fragment(left, 1);
  fill_fragment(right, 1);
  fill_fragment(sum, 0);
  if (blockIdx.x < count) load_matrix_sync(left, a, 16);
  mma_sync(sum, left, right, sum);
  store_matrix_sync(d, sum, 32, mem_row_major);
}

// From shared or from global memory.
extern "C" __global__ void tile_from_either(float* d, const half* a, bool from_shared) {
  __shared__ alignas(32) half staged[256];
  for (int i = threadIdx.x; i < 256; i += 32) staged[i] = a[i];
  __syncthreads();
  Left left;
  Right right;
  Sum sum;
  fill_fragment(sum, 0.0f);
  load_matrix_sync(left, from_shared ? staged : a, 16);
  load_matrix_sync(right, a, 16);
  mma_sync(sum, left, right, sum);
  store_matrix_sync(d, sum, 16, mem_row_major);
}
