#include "imaging/imaging.h"

namespace imaging {
namespace {

constexpr int kThreads = 256, kPixelsPerBlock = 16 * kThreads;

// Each block counts its pixels in shared memory.
__global__ void count(std::uint32_t* partial, const std::uint8_t* in, int pixels) {
  __shared__ std::uint32_t bins[kBins];
  bins[threadIdx.x] = 0;
  __syncthreads();
  const int first = blockIdx.x * kPixelsPerBlock;
  const int last = min(first + kPixelsPerBlock, pixels);
  for (int i = first + threadIdx.x; i < last; i += kThreads) atomicAdd(&bins[in[i]], 1u);
  __syncthreads();
  partial[blockIdx.x * kBins + threadIdx.x] = bins[threadIdx.x];
}

// One thread per bin adds up the blocks' counts.
__global__ void add_up(std::uint32_t* bins, const std::uint32_t* partial, int blocks) {
  std::uint32_t sum = 0;
  for (int block = 0; block < blocks; ++block) sum += partial[block * kBins + threadIdx.x];
  bins[threadIdx.x] = sum;
}

}  // namespace

int histogram_blocks(int pixels) { return (pixels + kPixelsPerBlock - 1) / kPixelsPerBlock; }

cudaError_t histogram(std::uint32_t* bins, std::uint32_t* partial, const std::uint8_t* in,
                      int pixels, cudaStream_t stream) {
  const int blocks = histogram_blocks(pixels);
  count<<<blocks, kThreads, 0, stream>>>(partial, in, pixels);
  add_up<<<1, kBins, 0, stream>>>(bins, partial, blocks);
  return cudaGetLastError();
}

}  // namespace imaging
