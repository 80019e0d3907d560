#include "imaging/imaging.h"

namespace imaging {
namespace {

constexpr int kThreads = 128, kRadius = kTaps / 2;

__constant__ float weights[kTaps];

// A block filters kThreads pixels of a row, from a copy of them and their neighbours in shared
// memory.
template <typename Pixel, int Threads>
__global__ void filter_row(float* out, const Pixel* in, int width) {
  __shared__ float pixels[Threads + 2 * kRadius];
  const Pixel* row = in + static_cast<long long>(blockIdx.y) * width;
  const int first = blockIdx.x * Threads - kRadius;
  for (int i = threadIdx.x; i < Threads + 2 * kRadius; i += Threads) {
    const int x = first + i;
    pixels[i] = x >= 0 && x < width ? static_cast<float>(row[x]) : 0.0f;
  }
  __syncthreads();
  const int x = blockIdx.x * Threads + threadIdx.x;
  if (x >= width) return;
  float sum = 0;
#pragma unroll
  for (int tap = 0; tap < kTaps; ++tap) sum += weights[tap] * pixels[threadIdx.x + tap];
  out[static_cast<long long>(blockIdx.y) * width + x] = sum;
}

}  // namespace

cudaError_t set_taps(const float (&taps)[kTaps]) {
  return cudaMemcpyToSymbol(weights, taps, sizeof taps);
}

template <typename Pixel>
cudaError_t filter_rows(float* out, const Pixel* in, int width, int height, cudaStream_t stream) {
  const dim3 grid((width + kThreads - 1) / kThreads, height);
  filter_row<Pixel, kThreads><<<grid, kThreads, 0, stream>>>(out, in, width);
  return cudaGetLastError();
}

template cudaError_t filter_rows(float*, const std::uint8_t*, int, int, cudaStream_t);
template cudaError_t filter_rows(float*, const float*, int, int, cudaStream_t);

}  // namespace imaging
