// Places that atomics give out, and a kernel that looks up by what stands in them.
#include <cstdio>

__global__ void by_atomics(int* places, int* count) { places[threadIdx.x] = atomicAdd(count, 1); }
__global__ void by_index(int* places) { places[threadIdx.x] = int(threadIdx.x); }
__global__ void look_up(const int* places, const float* table, float* out) {
  out[threadIdx.x] = table[33 * places[threadIdx.x]];  // sectors by what memory holds
}
__global__ void copy(const int* places, int* out) { out[threadIdx.x] = places[threadIdx.x]; }

int main(int argc, char**) {
  constexpr int kThreads = 256;
  int *places, *count;
  float *table, *out;
  cudaMalloc(&places, kThreads * sizeof(int));
  cudaMalloc(&count, sizeof(int));
  cudaMalloc(&table, 33 * kThreads * sizeof(float));
  cudaMalloc(&out, kThreads * sizeof(float));
  cudaMemset(count, 0, sizeof(int));
  cudaMemset(table, 0, 33 * kThreads * sizeof(float));
  if (argc > 1) {
    by_atomics<<<1, kThreads>>>(places, count);
  } else {
    by_index<<<1, kThreads>>>(places);
  }
  look_up<<<1, kThreads>>>(places, table, out);
  copy<<<1, kThreads>>>(places, reinterpret_cast<int*>(out));
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", error == cudaSuccess ? "PASSED" : cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}
