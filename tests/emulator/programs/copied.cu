// A kernel that reads a copy: of memory that was set, that a kernel filled, or that nothing wrote.
#include <cstdio>
#include <cstring>

__global__ void fill(float* data) { data[threadIdx.x] = float(threadIdx.x); }
__global__ void twice(float* out, const float* data) {
  out[threadIdx.x] = 2 * data[threadIdx.x];  // read here
}

int main(int argc, char** argv) {
  constexpr int kCount = 64;
  const char* const way = argc > 1 ? argv[1] : "set";
  float *data, *copy, *out;
  cudaMalloc(&data, kCount * sizeof(float));
  cudaMalloc(&copy, kCount * sizeof(float));
  cudaMalloc(&out, kCount * sizeof(float));
  if (std::strcmp(way, "set") == 0) cudaMemset(data, 0, kCount * sizeof(float));
  if (std::strcmp(way, "filled") == 0) fill<<<1, kCount>>>(data);
  cudaMemcpy(copy, data, kCount * sizeof(float), cudaMemcpyDeviceToDevice);
  twice<<<1, kCount>>>(out, copy);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", error == cudaSuccess ? "PASSED" : cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}
