// Kernels for the test of accesses that ptxas makes one of, or makes narrower. Each kernel has one
// kind of them, as the names of the kernels say.
extern "C" {

// The aligned 16 bytes around the first sum hold a value that is not loaded: ptxas loads it as well.
__global__ void more_than_asked_for(float* out, const float* in) {
  __shared__ float sums[11];
  if (threadIdx.x < 11) sums[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int i = 1; i < 8; ++i) sum = sum * 2 + sums[i];
    out[0] = sum;
  }
}

// Two variables beside each other, stored behind a condition and loaded in each round.
__global__ void two_variables(float* out, const float* in, int n) {
  __shared__ float factor, offset;
#pragma unroll 1
  for (int round = 0; round < n; ++round) {
    if (threadIdx.x == 0) {
      factor = in[2 * round];
      offset = in[2 * round + 1];
    }
    __syncthreads();
    out[round * blockDim.x + threadIdx.x] = threadIdx.x * factor + offset;
    __syncthreads();
  }
}

// One store for both ways of the branch.
__global__ void stored_once(float* out, const float* in, int n) {
  __shared__ float values[32];
  const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(values + threadIdx.x));
  const float value = in[threadIdx.x];
  if (value > n) {
    asm volatile("st.shared.f32 [%0], %1;" ::"r"(place), "f"(value) : "memory");
  } else {
    asm volatile("st.shared.f32 [%0], %1;" ::"r"(place), "f"(value * 3) : "memory");
  }
  __syncthreads();
  out[threadIdx.x] = values[31 - threadIdx.x];
}

// Half of what is loaded is used.
__global__ void part_of_a_pair(float* out, const float2* in) {
  __shared__ float2 pairs[32];
  pairs[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = pairs[31 - threadIdx.x].y;
}

// Registers are saved where the function begins, and it loads where the ways of its branch have met.
__device__ __noinline__ float product_below(const float* in, int level) {
  float below = 1;
  if (level > 0) below = product_below(in, level - 1);
  return below * __ldg(in + level);
}
__global__ void saved_around_a_call(float* out, const float* in, int n) {
  out[threadIdx.x] = product_below(in, n);
}

// In each loop one load holds the neighbour as well, which could be the last load of the other.
__device__ __forceinline__ float local_load(std::size_t at) {
  float value;
  asm volatile("ld.local.f32 %0, [%1];" : "=f"(value) : "l"(at) : "memory");
  return value;
}
__device__ __forceinline__ void local_store(std::size_t at, float value) {
  asm volatile("st.local.f32 [%0], %1;" ::"l"(at), "f"(value) : "memory");
}
__device__ __forceinline__ void change_array(float* out, const float* in, std::size_t array,
                                             int rounds, int first) {
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    float value = local_load(array);
    if (first > 0) value += local_load(array + 4) * in[round];
    out[round * blockDim.x + threadIdx.x] = value;
    local_store(array + 4 * first, value + local_load(array + 4 * first));
  }
}
__global__ void in_two_loops(float* __restrict__ out, const float* __restrict__ in, int rounds,
                             int more, int first) {
  float values[16];
  for (int i = 0; i < 16; ++i) values[i] = in[i * blockDim.x + threadIdx.x];
  const std::size_t array = __cvta_generic_to_local(values);
  out[0] = values[first];
  change_array(out, in, array, rounds, first);
  change_array(out, in + rounds, array, more, first);
}

// The same, and each loop may end before the loads of a round.
__device__ __forceinline__ void change_until_negative(float* out, const float* in,
                                                      std::size_t array, int rounds, int first) {
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    float value = in[round];
    if (value < 0) break;
    value += local_load(array);
    if (first > 0) value += local_load(array + 4) * in[round];
    out[round * blockDim.x + threadIdx.x] = value;
    local_store(array + 4 * first, value + local_load(array + 4 * first));
  }
}
__global__ void in_loops_that_end_early(float* __restrict__ out, const float* __restrict__ in,
                                        int rounds, int more, int first) {
  float values[16];
  for (int i = 0; i < 16; ++i) values[i] = in[i * blockDim.x + threadIdx.x];
  const std::size_t array = __cvta_generic_to_local(values);
  out[0] = values[first];
  change_until_negative(out, in, array, rounds, first);
  change_until_negative(out, in + rounds, array, more, first);
}

// Nothing needs the pair.
__global__ void loads_in_vain(float* out, const float* in) {
  __shared__ float2 pairs[32];
  float* const values = &pairs[0].x;
  values[threadIdx.x] = in[threadIdx.x];
  values[threadIdx.x + 32] = in[threadIdx.x + 32];
  __syncthreads();
  const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(pairs + threadIdx.x));
  float x, y;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x), "=f"(y) : "r"(place) : "memory");
  out[threadIdx.x] = values[63 - threadIdx.x];
}
}
