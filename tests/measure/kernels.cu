// The launches: two kernels on memory of their own.
#include <cstddef>

#include "tests/measure/kernels.h"
#include "warpgauge/cuda_error.h"

namespace measured {
namespace {

constexpr int kWarp = 32;

/// Writes a row of the tile for each warp, and reads a column. Rows without a warp hold anything.
template <int Pitch>
__global__ void by_columns(int* out, const int* in) {
  __shared__ int tile[kWarp][Pitch];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * kWarp + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * kWarp + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void copy(int* out, const int* in) {
  const int i = blockIdx.x * kWarp + threadIdx.x;
  out[i] = in[i];
}

/// An input and an output, of a tile each. Waits for the kernels that use them before it ends.
struct Memory {
  static constexpr std::size_t kBytes = kWarp * kWarp * sizeof(int);
  int *in = nullptr, *out = nullptr;
  Memory() {
    WARPGAUGE_CUDA(cudaMalloc(&in, kBytes));
    WARPGAUGE_CUDA(cudaMalloc(&out, kBytes));
    WARPGAUGE_CUDA(cudaMemset(in, 0, kBytes));
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
  }
};

}  // namespace

void copy_tile(int warps, bool padded) {
  const Memory memory;
  const dim3 block(kWarp, warps);
  if (padded) {
    by_columns<kWarp + 1><<<1, block>>>(memory.out, memory.in);
  } else {
    by_columns<kWarp><<<1, block>>>(memory.out, memory.in);
  }
}

void copy_twice(int warps) {
  const Memory memory;
  cudaStream_t stream = nullptr;
  WARPGAUGE_CUDA(cudaStreamCreate(&stream));
  copy<<<warps, kWarp, 0, stream>>>(memory.out, memory.in);
  copy<<<warps, kWarp, 0, stream>>>(memory.in, memory.out);
  WARPGAUGE_CUDA(cudaStreamSynchronize(stream));
  WARPGAUGE_CUDA(cudaStreamDestroy(stream));
}

void nothing() {}

void refused() { copy<<<1, 4096>>>(nullptr, nullptr); }

}  // namespace measured
