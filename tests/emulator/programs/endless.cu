// A whole program: its kernel, which its argument names, never ends, unless it is "once".
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

__global__ void once(unsigned* out, const unsigned* in) { out[threadIdx.x] = in[threadIdx.x] + 1; }

__global__ void computes(unsigned* out, const unsigned* in) {
  unsigned x = in[threadIdx.x], sum = 0;
  while (x != 1) {  // which 0 never becomes
    x *= 2;
    sum = 5 * sum + x;
  }
  out[threadIdx.x] = sum;
}

__global__ void polls(unsigned* out, const volatile unsigned* in) {
  while (in[0] == 0) {
  }
  out[0] = 1;
}

__device__ unsigned __noinline__ deeper(unsigned x, volatile unsigned* in) {
  const unsigned before = in[0];
  return deeper(x + 1, in) + before;
}

__global__ void recurses(unsigned* out, unsigned* in) { out[0] = deeper(1, in); }

// The barrier of the grid waits for a block that has left.
__global__ void leaves(unsigned* out, const unsigned* in) {
  if (blockIdx.x == 0) return;
  cooperative_groups::this_grid().sync();
  out[0] = in[0];
}

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "once";
  unsigned *in = nullptr, *out = nullptr;
  cudaMalloc(&in, 32 * sizeof(unsigned));
  cudaMalloc(&out, 32 * sizeof(unsigned));
  cudaMemset(in, 0, 32 * sizeof(unsigned));
  if (way == "once") once<<<1, 32>>>(out, in);
  if (way == "computes") computes<<<1, 32>>>(out, in);
  if (way == "polls") polls<<<1, 1>>>(out, in);
  if (way == "recurses") recurses<<<1, 1>>>(out, in);
  if (way == "leaves") {
    void* arguments[] = {&out, &in};
    cudaLaunchCooperativeKernel(reinterpret_cast<void*>(leaves), 2, 32, arguments);
  }
  const std::string how = argc > 2 ? argv[2] : "";
  if (how == "beside") std::thread(pause).detach();  // it might yet write what the kernel waits for
  if (how == "left") {                               // without synchronisation
    std::puts("LEFT");
    return EXIT_SUCCESS;
  }
  const cudaError_t error = cudaDeviceSynchronize();
  std::puts(error == cudaSuccess ? "PASSED" : cudaGetErrorName(error));
  return error == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
