// The product of a matrix and a vector, y = A x, with A row by row in memory.
//
// A row can be added up by a thread or by a warp. `row_per_thread` reads as a sequential program
// does: its lanes are in 32 rows, each in a sector of its own (32 sectors a request), of which it
// uses one word at a time. `row_per_warp` spreads the lanes along the row, 4 sectors of floats a
// request, and adds up by shuffles. The vector is small and read by every warp: it comes from a
// cache.
#include "kernels/matrix_vector/problem.h"

namespace matrix_vector {

constexpr int kThreads = 256;
constexpr int kWarp = 32;
constexpr int kRows = kThreads / kWarp;  // of a block of `row_per_warp`

template <typename T>
__global__ void row_per_thread(T* y, const T* a, const T* x, int rows, int columns) {
  const int row = blockIdx.x * kThreads + threadIdx.x;
  if (row >= rows) return;
  const T* mine = a + static_cast<long long>(row) * columns;
  T sum = 0;
#pragma unroll 1
  for (int j = 0; j < columns; ++j) sum += mine[j] * x[j];
  y[row] = sum;
}

// All lanes of a warp go the same number of rounds, so that they stay together.
template <typename T>
__global__ void row_per_warp(T* y, const T* a, const T* x, int rows, int columns) {
  const int row = blockIdx.x * kRows + threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  if (row >= rows) return;
  const T* mine = a + static_cast<long long>(row) * columns;
  T sum = 0;
#pragma unroll 1
  for (int first = 0; first < columns; first += kWarp) {
    const int j = first + lane;
    if (j < columns) sum += mine[j] * x[j];
  }
  for (int half = kWarp / 2; half > 0; half /= 2) sum += __shfl_down_sync(~0u, sum, half);
  if (lane == 0) y[row] = sum;
}

template <typename T>
void add_variants(const warpgauge::Family& family, const char* type) {
  const auto product =
      family.problem<Product<T>>(type, sizes()).sizes_between({1, 1}, {16384, 16384});
  product.variant("row_per_thread", [](Product<T>& p) {
    const int blocks = (p.rows + kThreads - 1) / kThreads;
    row_per_thread<T><<<blocks, kThreads>>>(p.y, p.a, p.x, p.rows, p.columns);
  });
  product.variant("row_per_warp", [](Product<T>& p) {
    const int blocks = (p.rows + kRows - 1) / kRows;
    row_per_warp<T><<<blocks, kThreads>>>(p.y, p.a, p.x, p.rows, p.columns);
  });
}

WARPGAUGE_FAMILY(matrix_vector) {
  add_variants<float>(family, "f32");
  add_variants<double>(family, "f64");
}

}  // namespace matrix_vector
