// A whole program: copies numbers, and ends in the way that its argument names.
#include <cuda_runtime.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

constexpr int kNumbers = 1000;

__global__ void copy(float* out, const float* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kNumbers) out[i] = in[i];
}

__global__ void add_one(float* out, const float* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kNumbers) out[i] = in[i] + 1;
}

__global__ void spin(volatile float* out) {
  while (out[0] == 0) {
  }
}

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  float *in = nullptr, *out = nullptr;
  if (way == "early") return cudaFree(&in) == cudaSuccess ? EXIT_FAILURE : EXIT_SUCCESS;
  cudaMalloc(&in, kNumbers * sizeof(float));
  cudaMalloc(&out, kNumbers * sizeof(float));
  cudaMemset(in, 0, kNumbers * sizeof(float));
  copy<<<(kNumbers + 255) / 256, 256>>>(out, in);
  bool is_right = cudaDeviceSynchronize() == cudaSuccess;
  if (way == "failed_launch") {  // and its error swallowed
    copy<<<1, 2000>>>(out, in);
    cudaGetLastError();
  }
  if (way.rfind("empty", 0) == 0) {
    for (int i = 0; i < 2; ++i) {
      copy<<<0, 256>>>(out, in);
      if (way == "empty_and_taken") cudaGetLastError();
    }
  }
  if (way == "refused" || way == "refused_and_taken") {  // by the emulator
    cudaIpcMemHandle_t handle;
    cudaIpcGetMemHandle(&handle, out);
    if (way == "refused_and_taken") cudaGetLastError();
  }
  if (way.rfind("beyond", 0) == 0) {  // memory, with a look at the error
    float numbers[kNumbers + 1] = {};
    const std::size_t bytes = sizeof numbers;
    cudaError_t error = cudaSuccess;
    if (way == "beyond_copy") error = cudaMemcpy(in, numbers, bytes, cudaMemcpyHostToDevice);
    if (way == "beyond_read") error = cudaMemcpy(numbers, in, bytes, cudaMemcpyDeviceToHost);
    if (way == "beyond_fill") error = cudaMemset(in, 0, bytes);
    if (way == "beyond_start") error = cudaMemset(in + kNumbers + 1, 0, sizeof(float));
    is_right = error == cudaErrorInvalidValue && cudaGetLastError() == error;
  }
  if (way == "more") {
    for (int i = 0; i < 3; ++i) add_one<<<(kNumbers + 255) / 256, 256>>>(out, in);
    is_right = is_right && cudaDeviceSynchronize() == cudaSuccess;
  }
  if (way == "spin") {  // until a signal ends it
    spin<<<1, 1>>>(out);
    pause();  // its launch returns while it waits
  }
  if (way == "first_thread") {
    std::thread([=] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      copy<<<(kNumbers + 255) / 256, 256>>>(out, in);
      std::puts(cudaDeviceSynchronize() == cudaSuccess && is_right ? "PASSED" : "FAILED");
    }).detach();
    pthread_exit(nullptr);
  }
  std::printf("%s\n", is_right ? "PASSED" : "FAILED");
  std::fflush(stdout);
  if (way == "_exit") _exit(7);
  if (way == "_Exit") std::_Exit(7);
  if (way == "quick_exit") std::quick_exit(7);
  if (way == "abort") std::abort();
  if (way == "SIGINT") std::raise(SIGINT);
  return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
