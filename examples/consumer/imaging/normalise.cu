#include "imaging/imaging.h"

namespace imaging {
namespace {

constexpr int kThreads = 256;

__global__ void divide(float* pixels, float divisor, int count) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < count) pixels[i] /= divisor;
}

}  // namespace

cudaError_t normalise(float* pixels, float divisor, int count, cudaStream_t stream) {
  divide<<<(count + kThreads - 1) / kThreads, kThreads, 0, stream>>>(pixels, divisor, count);
  return cudaGetLastError();
}

}  // namespace imaging
