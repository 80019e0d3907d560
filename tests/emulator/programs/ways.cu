// Kernels whose machine code branches as their PTX does, or otherwise.
#include <cstdio>
#include <vector>

// The threads behind the end leave.
__global__ void bounded(float* y, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = x[i] + 1;
}

// Lanes part and meet again.
__global__ void parted(float* y, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (x[i] * x[i] + x[i] < 40) atomicAdd(&count, 1);
  __syncthreads();
  y[i] = count;
}

// Each lane goes round as often as its number says.
__global__ void rounds(float* y, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < i % 7; ++k) sum = sum * x[i] + 1;
  y[i] = sum;
}

// The machine code has several loops for one, with several rounds in one.
__global__ void unrolled(float* y, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += x[k];
  y[i] = sum;
}

// Lanes leave by two branches for one place, at which some wait while others come.
__global__ void left_twice(float* y, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (i < n && x[i] * x[i] + x[i] < 40) atomicAdd(&count, 1);
  __syncthreads();
  y[i] = count;
}

// The machine code has a branch to a function for quotients that are out of the ordinary.
__global__ void quotients(float* y, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = y[i] / x[i];
}

int main() {
  constexpr int kThreads = 256, kPlaces = 4 * kThreads, kCount = 1000;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, kPlaces * sizeof(float));
  cudaMalloc(&y, kPlaces * sizeof(float));
  std::vector<float> numbers(kPlaces);
  for (int i = 0; i < kPlaces; ++i) numbers[i] = static_cast<float>(i % 9 + 1);
  cudaMemcpy(x, numbers.data(), kPlaces * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(y, 0, kPlaces * sizeof(float));
  bounded<<<4, kThreads>>>(y, x, kCount);
  parted<<<4, kThreads>>>(y, x, kCount);
  rounds<<<4, kThreads>>>(y, x, kCount);
  unrolled<<<4, kThreads>>>(y, x, kCount);
  left_twice<<<4, kThreads>>>(y, x, kCount);
  quotients<<<4, kThreads>>>(y, x, kCount);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  std::puts(error == cudaSuccess ? "PASSED" : cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}
