// A whole program: one launch allocates on the heap of kernels, another frees. With an argument, a
// launch between them leaves there what the last warp writes.
#include <cuda_runtime.h>

#include <cstdio>

constexpr int kThreads = 64;

__global__ void create(int** places) { places[threadIdx.x] = new int(threadIdx.x); }
__global__ void overwrite(int* const* places) { *places[0] = threadIdx.x / 32; }
__global__ void add(int* const* places, int* sum) { atomicAdd(sum, *places[threadIdx.x]); }
__global__ void destroy(int* const* places) { delete places[threadIdx.x]; }

int main(int argc, char**) {
  int **places = nullptr, *sum = nullptr, found = 0;
  cudaMalloc(&places, kThreads * sizeof(int*));
  cudaMalloc(&sum, sizeof *sum);
  cudaMemset(sum, 0, sizeof *sum);
  for (int round = 0; round < 3; ++round) {
    create<<<1, kThreads>>>(places);
    if (argc > 1) overwrite<<<1, kThreads>>>(places);
    add<<<1, kThreads>>>(places, sum);
    destroy<<<1, kThreads>>>(places);
  }
  cudaMemcpy(&found, sum, sizeof found, cudaMemcpyDeviceToHost);
  const int right = 3 * kThreads * (kThreads - 1) / 2;
  const bool passed = cudaGetLastError() == cudaSuccess && (argc > 1 || found == right);
  std::printf("%s\n", passed ? "PASSED" : "FAILED");
  return passed ? 0 : 1;
}
