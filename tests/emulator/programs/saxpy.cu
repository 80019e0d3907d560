// A whole program: y = a * x + y on two streams, timed with events, checked on the host.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                           \
  do {                                                                        \
    const cudaError_t error_ = (call);                                        \
    if (error_ != cudaSuccess) {                                              \
      std::fprintf(stderr, "%s:%d: %s: %s (%s)\n", __FILE__, __LINE__, #call, \
                   cudaGetErrorString(error_), cudaGetErrorName(error_));     \
      std::exit(EXIT_FAILURE);                                                \
    }                                                                         \
  } while (0)

__global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
  if (i == 0) printf("hello from block %d of %d\n", blockIdx.x, gridDim.x);
}

int main() {
  cudaDeviceProp properties;
  int device = -1;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaGetDeviceProperties(&properties, device));
  std::printf("device %d: %s, compute capability %d.%d, %d multiprocessors\n", device,
              properties.name, properties.major, properties.minor, properties.multiProcessorCount);

  const int n = 10007, half = n / 2;
  std::vector<float> y(n);
  float* x_host = nullptr;
  CHECK(cudaMallocHost(&x_host, n * sizeof(float)));
  for (int i = 0; i < n; ++i) {
    x_host[i] = 0.5f * i;
    y[i] = 1.0f - i;
  }
  float *x = nullptr, *y_device = nullptr;
  CHECK(cudaMalloc(&x, n * sizeof(float)));
  CHECK(cudaMalloc(&y_device, n * sizeof(float)));

  cudaStream_t streams[2];
  cudaEvent_t start, stop;
  for (cudaStream_t& stream : streams) CHECK(cudaStreamCreate(&stream));
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaMemcpy(y_device, y.data(), n * sizeof(float), cudaMemcpyHostToDevice));

  CHECK(cudaEventRecord(start));
  for (int part = 0; part < 2; ++part) {
    const int first = part * half, count = part == 0 ? half : n - half;
    CHECK(cudaMemcpyAsync(x + first, x_host + first, count * sizeof(float), cudaMemcpyHostToDevice,
                          streams[part]));
    saxpy<<<(count + 255) / 256, 256, 0, streams[part]>>>(count, 2.0f, x + first, y_device + first);
    CHECK(cudaGetLastError());
  }
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaEventRecord(stop));
  CHECK(cudaEventSynchronize(stop));
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop));

  CHECK(cudaMemcpy(y.data(), y_device, n * sizeof(float), cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += y[i] != 2.0f * x_host[i] + (1.0f - i);

  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  for (cudaStream_t stream : streams) CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(x));
  CHECK(cudaFree(y_device));
  CHECK(cudaFreeHost(x_host));
  std::printf("%s\n", wrong == 0 && milliseconds >= 0 ? "PASSED" : "FAILED");
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
