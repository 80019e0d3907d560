// Two tiny kernels: one with more values alive than registers, one that needs no local memory.

__global__ void spills(float* out, const float* in) {
  float value[32];
#pragma unroll
  for (int i = 0; i < 32; ++i) value[i] = in[i * 32 + threadIdx.x];
#pragma unroll
  for (int i = 0; i < 32; ++i) out[i * 32 + threadIdx.x] = value[31 - i];
}

__global__ void lean(float* out) { out[threadIdx.x] = 1; }
