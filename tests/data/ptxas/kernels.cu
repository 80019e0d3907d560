// The kernels whose compiler messages are recorded here: one for each form of message.

namespace sample {

__constant__ float weights[64];

/// Static shared memory and barriers.
__global__ void tiled(float* out, const float* in) {
  __shared__ float tile[32][33];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

/// A local array that cannot live in registers: a stack frame without spills; and a constant bank.
template <typename T, int kSize>
__global__ void histogram(T* out, const int* in, int n) {
  T local[kSize] = {};
  for (int i = 0; i < n; ++i) local[in[i] % kSize] += weights[i % 64];
  for (int i = 0; i < kSize; ++i) out[i] = local[i];
}
template __global__ void histogram<float, 24>(float*, const int*, int);
template __global__ void histogram<double, 24>(double*, const int*, int);

/// More values alive than the launch bounds leave registers for: spills.
__global__ void __launch_bounds__(1024, 1) spilling(double* out, const double* in) {
  double value[48];
#pragma unroll
  for (int i = 0; i < 48; ++i) value[i] = in[i * 1024 + threadIdx.x];
#pragma unroll
  for (int i = 0; i < 48; ++i) value[i] = value[i] * value[(i * 7 + 5) % 48] + value[47 - i];
#pragma unroll
  for (int i = 0; i < 48; ++i) out[i * 1024 + threadIdx.x] = value[i] / value[(i + 11) % 48];
}

/// Compiled on its own, with a stack and spills of its own: belongs to no kernel.
__device__ __noinline__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}
__global__ void recursive(int* out) { out[threadIdx.x] = ackermann(2, threadIdx.x); }

}  // namespace sample
