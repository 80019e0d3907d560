// A whole program whose kernel launches kernels: sums of parts, then their sum when all are there.
#include <cuda_runtime.h>

#include <cstdio>

constexpr int kParts = 6, kPart = 64;

__global__ void add_part(const int* values, int* sum) {
  atomicAdd(sum, values[blockIdx.x * blockDim.x + threadIdx.x]);
}

__global__ void finish(const int* sums, int* total) {
  for (int part = 0; part < kParts; ++part) *total += sums[part];
}

__global__ void launch(const int* values, int* sums, int* total) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    finish<<<1, 1, 0, cudaStreamTailLaunch>>>(sums, total);
    finish<<<1, 2048>>>(sums, total);  // too many threads
    if (cudaGetLastError() != cudaErrorInvalidConfiguration) *total = 1000;
    if (cudaGetLastError() != cudaSuccess) *total = 1000;
  }
  const int part = blockIdx.x * blockDim.x + threadIdx.x;
  if (part % 2 == 0) {
    add_part<<<1, kPart>>>(values + part * kPart, &sums[part]);
  } else {
    add_part<<<2, kPart / 2, 0, cudaStreamFireAndForget>>>(values + part * kPart, &sums[part]);
  }
}

__global__ void again(int* sum) {
  ++*sum;
  again<<<1, 1, 0, cudaStreamTailLaunch>>>(sum);
}

int main(int argc, char**) {
  int *values = nullptr, *sums = nullptr, *total = nullptr;
  cudaMallocManaged(&values, kParts * kPart * sizeof(int));
  cudaMallocManaged(&sums, kParts * sizeof(int));
  cudaMallocManaged(&total, sizeof(int));
  int expected = 0;
  for (int i = 0; i < kParts * kPart; ++i) expected += values[i] = i % 97;
  for (int part = 0; part < kParts; ++part) sums[part] = 0;
  *total = 0;
  launch<<<2, kParts / 2>>>(values, sums, total);
  if (argc > 1) again<<<1, 1>>>(total);  // for ever
  const cudaError_t error = cudaDeviceSynchronize();
  const bool passed = error == cudaSuccess && *total == expected;
  std::printf("%d of %d: %s\n%s\n", *total, expected, cudaGetErrorString(error),
              passed ? "PASSED" : "FAILED");
  return passed ? 0 : 1;
}
