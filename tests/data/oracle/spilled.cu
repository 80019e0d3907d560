// Kernels that keep more values than they have registers for, where no access to memory stands.
// Rounds are not unrolled, so that the machine code has the loops and branches of the PTX.

extern "C" {

constexpr int kValues = 24;

__device__ __forceinline__ void load(float (&v)[kValues], const float* a) {
#pragma unroll
  for (int i = 0; i < kValues; ++i) v[i] = a[i * blockDim.x + threadIdx.x];
}

__device__ __forceinline__ void mix(float (&v)[kValues], float by) {
#pragma unroll
  for (int i = 0; i < kValues; ++i) v[i] = v[i] * v[(i + 7) % kValues] + by;
}

__device__ __forceinline__ void store(float* b, const float (&v)[kValues]) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kValues; ++i) sum = sum * v[i] + v[(i * 5) % kValues];
  b[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void __maxnreg__(24) in_a_loop(float* b, const float* a, int rounds) {
  float v[kValues];
  load(v, a);
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) mix(v, round);
  store(b, v);
}

__global__ void __maxnreg__(24) behind_a_branch(float* b, const float* a, int lanes) {
  float v[kValues];
  load(v, a);
  if (threadIdx.x % 32 < lanes) {
    mix(v, 1);
    mix(v, 2);
    mix(v, 3);
  }
  store(b, v);
}

// A quotient out of the ordinary is worked out by a function that the PTX does not have.
__global__ void __maxnreg__(24) beside_a_quotient(float* b, const float* a, int rounds) {
  float v[kValues];
  load(v, a);
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    mix(v, v[0] / v[1]);
    mix(v, round);
  }
  store(b, v);
}

__global__ void __maxnreg__(24) rounds_by_lane(float* b, const float* a) {
  float v[kValues];
  load(v, a);
#pragma unroll 1
  for (int round = 0; round < static_cast<int>(threadIdx.x % 32) / 4; ++round) mix(v, round);
  store(b, v);
}

// Registers are spilled where the loop loads from an array.
__global__ void __maxnreg__(24) beside_an_array(float* b, const float* a, int rounds) {
  float array[32], v[kValues];
  for (int i = 0; i < 32; ++i) array[i] = a[i * blockDim.x + threadIdx.x];
  load(v, a);
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    const float* const at = array + (round & 7);
#pragma unroll
    for (int i = 0; i < kValues; ++i)
      v[i] = v[i] * at[i % 8] + v[(i + 7) % kValues] * at[(i + 3) % 8];
  }
  store(b, v);
}

// ptxas makes one store of several rounds of the loop that clears the array.
__global__ void cleared_array(float* b, const float* a, int rounds) {
  double array[64] = {};
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    array[round & 63] += a[round * blockDim.x + threadIdx.x];
  }
  b[blockIdx.x * blockDim.x + threadIdx.x] = array[rounds & 63];
}

// The same behind another access.
__global__ void cleared_behind_a_load(float* b, const float* a, int rounds) {
  const float first = a[threadIdx.x];
  double array[64] = {};
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    array[round & 63] += a[round * blockDim.x + threadIdx.x];
  }
  b[blockIdx.x * blockDim.x + threadIdx.x] = array[rounds & 63] + first;
}

}  // extern "C"
