// A kernel that does its work once and remembers that it did, launched four times.
#include <cstdio>

__device__ unsigned known;

__global__ void scale(float* out, const float* in, unsigned key) {
  if (known == key) return;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2 * in[i];
}

__global__ void remember(unsigned key) { known = key; }

int main() {
  constexpr int kCount = 1024;
  float *in, *out;
  cudaMalloc(&in, kCount * sizeof(float));
  cudaMalloc(&out, kCount * sizeof(float));
  cudaMemset(in, 0, kCount * sizeof(float));
  for (int call = 0; call < 4; ++call) {
    scale<<<kCount / 256, 256>>>(out, in, 17);
    remember<<<1, 1>>>(17);
  }
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", error == cudaSuccess ? "PASSED" : cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}
