// A whole program: looks numbers up in a table, through a function of its own and one of the
// toolkit. With an argument one of the indices is wrong.
#include <cuda_runtime.h>

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

constexpr int kEntries = 100, kNumbers = 1000;

__device__ float entry(const float* table, long long i) {
  return __ldg(table + i);  // reads the table
}

__global__ void look_up(float* found, const float* table, const long long* indices) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kNumbers) return;
  found[i] = entry(table, indices[i]);  // looks up
}

template <typename T>
T* on_device(const std::vector<T>& values) {
  T* device = nullptr;
  CHECK(cudaMalloc(&device, values.size() * sizeof(T)));
  CHECK(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

int main(int argc, char**) {
  std::vector<float> entries(kEntries), found(kNumbers);
  std::vector<long long> indices(kNumbers);
  for (int i = 0; i < kEntries; ++i) entries[i] = 0.5f * i;
  for (int i = 0; i < kNumbers; ++i) indices[i] = i * 7 % kEntries;
  if (argc > 1) indices[300] = 1LL << 44;

  const float* table = on_device(entries);
  float* device_found = on_device(found);
  look_up<<<(kNumbers + 255) / 256, 256>>>(device_found, table, on_device(indices));
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(found.data(), device_found, kNumbers * sizeof(float), cudaMemcpyDeviceToHost));

  int wrong = 0;
  for (int i = 0; i < kNumbers; ++i) wrong += found[i] != entries[indices[i]];
  std::printf("%s\n", wrong == 0 ? "PASSED" : "FAILED");
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
