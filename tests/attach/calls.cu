// Kernels that call functions which are not inlined, and some that do not: calls KERNEL|wait...
// Built twice: whole, where ptxas copies functions into their kernels, and with -rdc=true, where
// kernels share them.
#include <cuda_runtime.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr int kWarp = 32;

__device__ __noinline__ int of_column(const int* tile, int column) {
  return tile[threadIdx.x * kWarp + column];  // 31 conflicts
}

// Reads once, and calls itself: 25 times for 5, itself included.
__device__ __noinline__ int mixes(const int* tile, int n) {
  return n < 1 ? tile[0] : mixes(tile, n - 1) ^ (tile[n] + mixes(tile, n - 2));
}

__device__ void fill(int* tile) {
  for (int row = 0; row < kWarp; ++row) tile[row * kWarp + threadIdx.x] = row;
  __syncthreads();
}

__global__ void once(int* out) {
  __shared__ int tile[kWarp * kWarp];
  fill(tile);
  out[threadIdx.x] = of_column(tile, 1);
}

__global__ void twice(int* out) {
  __shared__ int tile[kWarp * kWarp];
  fill(tile);
  out[threadIdx.x] = of_column(tile, 1) + of_column(tile, 2);
}

__global__ void recurses(int* out, int n) {
  __shared__ int tile[kWarp * kWarp];
  fill(tile);
  out[threadIdx.x] = mixes(tile, n);
}

__global__ void in_whole_warps(int* out) { out[threadIdx.x % kWarp] = 1; }

__global__ void in_a_partial_warp(int* out) { out[threadIdx.x % kWarp] = 1; }

int main(int count, char** words) {
  int* out = nullptr;
  if (cudaMalloc(&out, kWarp * sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(words[i], "once") == 0) once<<<1, kWarp>>>(out);
    if (std::strcmp(words[i], "twice") == 0) twice<<<1, kWarp>>>(out);
    if (std::strcmp(words[i], "recurses") == 0) recurses<<<1, kWarp>>>(out, 5);
    if (std::strcmp(words[i], "in_whole_warps") == 0) in_whole_warps<<<1, 1024>>>(out);
    if (std::strcmp(words[i], "in_a_partial_warp") == 0) in_a_partial_warp<<<1, 1018>>>(out);
    if (std::strcmp(words[i], "wait") != 0) continue;
    sleep(2);
    if (cudaDeviceSynchronize() != cudaSuccess) return EXIT_FAILURE;
  }
  return cudaDeviceSynchronize() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
