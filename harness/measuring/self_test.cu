// Kernels with a planted defect that every gate must find in itself before it judges others: see
// self_test.h. Compiled into every program of kernels, with the same options.
#include "harness/measuring/self_test_kernels.h"

namespace warpgauge::self_test {

constexpr int kWarp = 32;
constexpr int kThreads = kWarp * kWarp;

// The columns of a tile without padding lie in one bank each.
__global__ void planted_bank_conflict(float* b, const float* a) {
  __shared__ float tile[kWarp][kWarp];
  const int x = threadIdx.x, y = threadIdx.y;
  tile[x][y] = a[y * kWarp + x];  // the line to blame
  __syncthreads();
  b[y * kWarp + x] = tile[y][x];
}
const int kBankConflictLine = __LINE__ - 4;

// The cap leaves 64 registers to a thread, which keeps 96 values alive across a barrier.
__global__ void __launch_bounds__(kThreads) planted_spill(float* b, const float* a) {
  constexpr int kValues = 96;
  const int i = threadIdx.x;
  float values[kValues];
#pragma unroll
  for (int k = 0; k < kValues; ++k) values[k] = a[(i + kWarp * k) % kThreads] * (k + 1);
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kValues; ++k)
    sum += values[k] * values[kValues - 1 - k] * values[k * 7 % kValues];
  b[i] = sum == 12345.678f ? sum : a[i];
}

void launch_bank_conflict(float* b, const float* a) {
  planted_bank_conflict<<<1, dim3(kWarp, kWarp)>>>(b, a);
}

const void* bank_conflict_kernel() { return reinterpret_cast<const void*>(planted_bank_conflict); }

void launch_spill(float* b, const float* a) { planted_spill<<<1, kThreads>>>(b, a); }

}  // namespace warpgauge::self_test
