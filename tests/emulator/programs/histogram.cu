// A whole program: a histogram in shared memory with bins from constant memory, managed variables,
// a launch that is planned with the occupancy calls, and errors that are meant to happen.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

constexpr int kBins = 16;

}  // namespace

__constant__ int upper_edges[kBins];
__managed__ unsigned items_seen;
__device__ unsigned bins[kBins];

template <typename Value>
__global__ void histogram(const Value* values, int n) {
  extern __shared__ unsigned counts[];
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) counts[bin] = 0;
  __syncthreads();
  unsigned seen = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int bin = 0;
    while (bin < kBins - 1 && values[i] >= upper_edges[bin]) ++bin;
    atomicAdd(&counts[bin], 1);
    ++seen;
  }
  atomicAdd(&items_seen, seen);
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) atomicAdd(&bins[bin], counts[bin]);
}

int run() {
  const int n = 5000;
  int edges[kBins];
  for (int bin = 0; bin < kBins; ++bin) edges[bin] = (bin + 1) * (bin + 1);
  check(cudaMemcpyToSymbol(upper_edges, edges, sizeof edges), "cudaMemcpyToSymbol");

  short* values = nullptr;
  check(cudaMallocManaged(&values, n * sizeof(short)), "cudaMallocManaged");
  unsigned expected[kBins] = {};
  for (int i = 0; i < n; ++i) {
    values[i] = static_cast<short>(i * 37 % 300);
    int bin = 0;
    while (bin < kBins - 1 && values[i] >= edges[bin]) ++bin;
    ++expected[bin];
  }

  int grid = 0, block = 0, blocks_per_multiprocessor = 0;
  check(cudaOccupancyMaxPotentialBlockSize(&grid, &block, histogram<short>, kBins * 4),
        "cudaOccupancyMaxPotentialBlockSize");
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_multiprocessor, histogram<short>,
                                                      block, kBins * 4),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  items_seen = 0;
  histogram<<<4, block, kBins * sizeof(unsigned)>>>(values, n);
  check(cudaGetLastError(), "launch");
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");

  unsigned counted[kBins];
  check(cudaMemcpyFromSymbol(counted, bins, sizeof counted), "cudaMemcpyFromSymbol");
  bool right = items_seen == n && blocks_per_multiprocessor > 0;
  for (int bin = 0; bin < kBins; ++bin) right = right && counted[bin] == expected[bin];

  check(cudaFuncSetAttribute(histogram<short>, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000),
        "cudaFuncSetAttribute");
  histogram<<<1, 32, 60000>>>(values, n);
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  right = right && items_seen == 2 * n;
  check(cudaFree(values), "cudaFree");
  std::printf("%s\n", right ? "PASSED" : "FAILED");
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
}
