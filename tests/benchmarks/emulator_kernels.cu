// Kernels that the emulator's speed is measured with: plain forms of what it is used for.
#include "tests/benchmarks/emulator_kernels.h"

namespace warpgauge::benchmarks {

__global__ void transpose(float* b, const float* a, int w, int h) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32, y = blockIdx.y * 32;
  const int i = threadIdx.x, j = threadIdx.y;
  if (x + i < w && y + j < h) tile[j][i] = a[(y + j) * w + x + i];
  __syncthreads();
  if (x + j < w && y + i < h) b[(x + j) * h + y + i] = tile[i][j];
}

__global__ void reduce(float* sums, const float* a, int n) {
  __shared__ float partial[256];
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += a[i];
  partial[t] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s) partial[t] += partial[t + s];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}

__global__ void matmul_tiled(float* c, const float* a, const float* b, int n) {
  constexpr int kTile = 32;
  __shared__ float as[kTile][kTile], bs[kTile][kTile];
  const int i = threadIdx.x, j = threadIdx.y;
  const int row = blockIdx.y * kTile + j, column = blockIdx.x * kTile + i;
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += kTile) {
    as[j][i] = a[row * n + k0 + i];
    bs[j][i] = b[(k0 + j) * n + column];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += as[j][k] * bs[k][i];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// Each of 256 threads makes an 8 x 8 piece of a 128 x 128 tile.
__global__ void matmul_register_blocked(float* c, const float* a, const float* b, int n) {
  constexpr int kTile = 128, kDepth = 8, kPiece = 8;
  __shared__ float as[kDepth][kTile], bs[kDepth][kTile];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16;
  const int row0 = blockIdx.y * kTile, column0 = blockIdx.x * kTile;
  float sum[kPiece][kPiece] = {};
  for (int k0 = 0; k0 < n; k0 += kDepth) {
    for (int e = t; e < kTile * kDepth; e += 256) {
      as[e % kDepth][e / kDepth] = a[(row0 + e / kDepth) * n + k0 + e % kDepth];
      bs[e / kTile][e % kTile] = b[(k0 + e / kTile) * n + column0 + e % kTile];
    }
    __syncthreads();
    for (int k = 0; k < kDepth; ++k) {
      float left[kPiece], right[kPiece];
      for (int i = 0; i < kPiece; ++i) left[i] = as[k][ty * kPiece + i];
      for (int i = 0; i < kPiece; ++i) right[i] = bs[k][tx + 16 * i];
      for (int i = 0; i < kPiece; ++i) {
        for (int j = 0; j < kPiece; ++j) sum[i][j] += left[i] * right[j];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < kPiece; ++i) {
    for (int j = 0; j < kPiece; ++j) {
      c[(row0 + ty * kPiece + i) * n + column0 + tx + 16 * j] = sum[i][j];
    }
  }
}

void launch_transpose(float* b, const float* a, int w, int h) {
  transpose<<<dim3((w + 31) / 32, (h + 31) / 32), dim3(32, 32)>>>(b, a, w, h);
}

void launch_reduce(float* sums, const float* a, int n) { reduce<<<256, 256>>>(sums, a, n); }

void launch_matmul_tiled(float* c, const float* a, const float* b, int n) {
  matmul_tiled<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(c, a, b, n);
}

void launch_matmul_register_blocked(float* c, const float* a, const float* b, int n) {
  matmul_register_blocked<<<dim3(n / 128, n / 128), 256>>>(c, a, b, n);
}

}  // namespace warpgauge::benchmarks
