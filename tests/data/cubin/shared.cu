// Compiled for tests/metrics/cubin_test.cpp: a kernel with shared memory, to be linked.
__device__ float scale;

__global__ void reverse(float* x) {
  __shared__ float s[4096];
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) s[i] = scale * x[i];
  __syncthreads();
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) x[i] = s[4095 - i];
}
