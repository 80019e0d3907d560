// A tile of a matrix product, for the test of what the machine code makes of wmma: A from global
// memory, B from shared memory, a plain load and store beside them.
#include <mma.h>

extern "C" __global__ void tile(float* d, const half* a, const half* b, int stride) {
  using namespace nvcuda::wmma;
  __shared__ alignas(32) half staged[256];
  for (int i = threadIdx.x; i < 256; i += 32) staged[i] = b[i];
  __syncthreads();
  fragment<matrix_a, 16, 16, 16, half, row_major> left;
  fragment<matrix_b, 16, 16, 16, half, row_major> right;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(sum, 0.0f);
  load_matrix_sync(left, a, stride);
  load_matrix_sync(right, staged, 16);
  mma_sync(sum, left, right, sum);
  store_matrix_sync(d, sum, stride, mem_row_major);
}
