// A whole program: the functions of the driver beside the runtime, linked, loaded by the library's
// name, and found by their own names.
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kNumbers = 1000;

__global__ void add_one(float* out, const float* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kNumbers) out[i] = in[i] + 1;
}

/// Prints and ends where it is not right.
void require(bool is_right, const char* what) {
  if (is_right) return;
  std::printf("FAILED: %s\n", what);
  std::exit(EXIT_FAILURE);
}
#define REQUIRE(condition) require(condition, #condition)

using GetCount = CUresult (*)(int*);

/// Finds a function in all possible ways.
void find_a_function() {
  int count = 0;
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  REQUIRE(library != nullptr);
  const auto loaded = reinterpret_cast<GetCount>(dlsym(library, "cuDeviceGetCount"));
  REQUIRE(loaded != nullptr && loaded(&count) == CUDA_SUCCESS && count > 0);
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
  REQUIRE(cudaGetDriverEntryPointByVersion("cuDeviceGetCount", &found, 12000, cudaEnableDefault,
                                           &status) == cudaSuccess);
  REQUIRE(status == cudaDriverEntryPointSuccess);
  REQUIRE(reinterpret_cast<GetCount>(found)(&count) == CUDA_SUCCESS && count > 0);
}

int main() {
  int count = 0;
  REQUIRE(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED);
  REQUIRE(cuInit(0) == CUDA_SUCCESS);
  find_a_function();
  REQUIRE(cudaSetDevice(0) == cudaSuccess);

  const std::vector<float> numbers(kNumbers, 1);
  CUdeviceptr in = 0, out = 0;
  REQUIRE(cuMemAlloc(&in, kNumbers * sizeof(float)) == CUDA_SUCCESS);
  REQUIRE(cuMemAlloc(&out, kNumbers * sizeof(float)) == CUDA_SUCCESS);
  REQUIRE(cuMemcpyHtoD(in, numbers.data(), kNumbers * sizeof(float)) == CUDA_SUCCESS);
  cudaFunction_t kernel = nullptr;
  REQUIRE(cudaGetFuncBySymbol(&kernel, reinterpret_cast<const void*>(add_one)) == cudaSuccess);
  void* arguments[] = {&out, &in};
  REQUIRE(cuLaunchKernel(kernel, (kNumbers + 255) / 256, 1, 1, 256, 1, 1, 0, nullptr, arguments,
                         nullptr) == CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize() == CUDA_SUCCESS);

  std::vector<float> sums(kNumbers);
  REQUIRE(cudaMemcpy(sums.data(), reinterpret_cast<void*>(out), kNumbers * sizeof(float),
                     cudaMemcpyDeviceToHost) == cudaSuccess);
  for (const float sum : sums) REQUIRE(sum == 2);
  std::puts("PASSED");
}
