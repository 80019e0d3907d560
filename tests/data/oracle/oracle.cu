// Kernels whose machine code has other accesses than their PTX, each in a way of its own.

/// Each thread reads 32 neighbouring floats of a row: ptxas reads four at once.
extern "C" __global__ void wide_rows(float* out, const float* in) {
  __shared__ float rows[32][32];
  for (int i = 0; i < 32; ++i) rows[i][threadIdx.x] = in[32 * i + threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 32; ++i) sum = sum * 3 + rows[threadIdx.x][i];
  out[threadIdx.x] = sum;
}

/// The same in columns: nothing can be merged.
extern "C" __global__ void columns(float* out, const float* in) {
  __shared__ float tile[32][33];
  for (int i = 0; i < 32; ++i) tile[i][threadIdx.x] = in[32 * i + threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 32; ++i) sum = sum * 3 + tile[i][31 - threadIdx.x];
  out[threadIdx.x] = sum;
}

/// A float is added to shared memory by a loop; 1 whose sum nobody reads, by POPC.INC from sm_80
/// on.
extern "C" __global__ void shared_atomics(float* out, const int* in) {
  __shared__ float sums[32];
  __shared__ int counts[32];
  sums[threadIdx.x % 32] = 0;
  counts[threadIdx.x % 32] = 0;
  __syncthreads();
  atomicAdd(&sums[in[threadIdx.x]], 2.5f);
  atomicAdd(&counts[in[threadIdx.x]], 1);
  __syncthreads();
  out[threadIdx.x] = sums[threadIdx.x % 32] + counts[threadIdx.x % 32];
}

/// All lanes add to one place: ptxas adds up in the warp first, and one lane does the access.
extern "C" __global__ void one_counter(int* counter, const int* in) {
  atomicAdd(counter, in[threadIdx.x]);
}

/// Its slow path has an array in local memory, which becomes registers.
extern "C" __global__ void sine(float* out, const float* in) {
  out[threadIdx.x] = sinf(in[threadIdx.x]);
}

/// More values than registers: some are spilled.
extern "C" __global__ void __maxnreg__(24) spills(float* out, const float* in) {
  float a[24];
#pragma unroll
  for (int i = 0; i < 24; ++i) a[i] = in[i * 32 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 24; ++i) out[i * 32 + threadIdx.x] = a[i] * a[(i + 17) % 24];
}

/// Of four values that are loaded together one is used.
extern "C" __global__ void narrowed(float* out, const float4* in) {
  out[threadIdx.x] = __ldg(in + threadIdx.x).y;
}

/// Some lanes add to one place in shared memory: on sm_75 one of them adds their number.
extern "C" __global__ void one_shared_counter(int* out, int n) {
  __shared__ int counter;
  if (threadIdx.x == 0) counter = 0;
  __syncthreads();
  if (static_cast<int>(threadIdx.x) < n) atomicAdd(&counter, 1);
  __syncthreads();
  if (threadIdx.x == 0) *out = counter;
}

/// The same with a value of each lane: REDUX and one lane, which sm_75 lacks: it adds up only in
/// full warps.
extern "C" __global__ void one_shared_sum(int* out, const int* in) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) *out = sum;
}
