// Two checks of square matrices. Is A orthogonal: how far is A times its transpose from 1? Do A
// and B commute: how far is AB from BA? The result is the largest difference of an element.
// The size of a case is the number of rows, and of elements that were spoiled so that it is not.
//
// No product needs to be stored, nor the transpose: element (i, j) of the first
// is row i times row j. `orthogonal` lets neighbouring lanes walk along neighbouring rows, each in
// a sector of its own (global.excess_sectors). `orthogonal_tiled` brings tiles of both rows to
// shared memory; there the lanes go down a column (shared.bank_ways). `orthogonal_padded` has one
// unused word in each row, `orthogonal_triangle` also leaves out what symmetry implies: about half
// of the loads. `commuting` reads along rows anyhow and gains by tiles only what is read again
// and again (global.load.requests): `commuting_tiled` has 1/32 of it, without any conflict.
#include <limits>

#include "warpgauge/warpgauge.h"

namespace matrix_checks {

constexpr int kWarp = 32;  // also the edge of a tile
constexpr int kRows = 8;   // of a block without tiles
constexpr double kSpoiled = 0.25;

// 1 - 2/n everywhere: a reflection, so it is orthogonal.
template <typename T>
std::vector<T> reflection(int n, int spoiled) {
  std::vector<T> a(n * n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) a[i * n + j] = static_cast<T>((i == j ? 1 : 0) - 2.0 / n);
  }
  for (int i = 0; i < spoiled; ++i) a[i * n + 2 * i + 5] += T(kSpoiled);
  return a;
}

// Each row is the one above, moved by one: such matrices commute. Small integers, of which
// sums and products are exact.
template <typename T>
std::vector<T> circulant(int n, int modulus, int spoiled) {
  std::vector<T> a(n * n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const int distance = (j - i + n) % n;
      a[i * n + j] = static_cast<T>(distance * distance % modulus - modulus / 2);
    }
  }
  for (int i = 0; i < spoiled; ++i) a[i * n + 2 * i + 5] += T(kSpoiled);
  return a;
}

inline double larger(double a, double b) { return a > b ? a : b; }
inline double magnitude(double a) { return a < 0 ? -a : a; }

// CPU reference: the largest |(A A^T - 1)_ij|; the matrix is symmetric.
template <typename T>
double from_orthogonal(const std::vector<T>& a, int n) {
  double worst = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = i; j < n; ++j) {
      double sum = i == j ? -1 : 0;
      for (int k = 0; k < n; ++k) sum += static_cast<double>(a[i * n + k]) * a[j * n + k];
      worst = larger(worst, magnitude(sum));
    }
  }
  return worst;
}

// CPU reference: the largest |(A B - B A)_ij|.
template <typename T>
double from_commuting(const std::vector<T>& a, const std::vector<T>& b, int n) {
  double worst = 0;
  std::vector<double> row(n);
  for (int i = 0; i < n; ++i) {
    for (double& difference : row) difference = 0;
    for (int k = 0; k < n; ++k) {
      const double of_a = a[i * n + k], of_b = b[i * n + k];
      for (int j = 0; j < n; ++j) row[j] += of_a * b[k * n + j] - of_b * a[k * n + j];
    }
    for (const double difference : row) worst = larger(worst, magnitude(difference));
  }
  return worst;
}

template <typename T>
struct Orthogonal : warpgauge::Problem {
  const int n;
  warpgauge::Input<T> a;
  warpgauge::Output<T> worst;

  explicit Orthogonal(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])),
        a(*this, reflection<T>(n, static_cast<int>(size[1]))),
        worst(*this, 1) {}
  // n additions, each rounds by half an epsilon at most: rows have length 1, so no partial sum of
  // an element is above 1 (1.5 if spoiled, where the tolerance grows with the result's own error).
  // The reference rounds doubles as much.
  void check(warpgauge::Comparison& comparison) const override {
    const double rounding = 1.5 * n * static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
    comparison.close(worst, std::vector<double>{from_orthogonal(a.host(), n)},
                     sizeof(T) == sizeof(double) ? 2 * rounding : rounding);
  }
  double flops() const override { return 1.0 * n * n * n; }  // half of A A^T, by symmetry
};

template <typename T>
struct Commuting : warpgauge::Problem {
  const int n;
  warpgauge::Input<T> a, b;
  warpgauge::Output<T> worst;

  explicit Commuting(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])),
        a(*this, circulant<T>(n, 5, static_cast<int>(size[1]))),
        b(*this, circulant<T>(n, 7, 0)),
        worst(*this, 1) {}
  // Quarters of integers far below 2^22: exact in float.
  void check(warpgauge::Comparison& comparison) const override {
    comparison.close(worst, std::vector<double>{from_commuting(a.host(), b.host(), n)}, 0);
  }
  double flops() const override { return 4.0 * n * n * n; }
};

// Bits of numbers that are not negative, as integers, are in the order of their values, and NaN is
// above all of them.
__device__ int bits_of_magnitude(float x) { return __float_as_int(fabsf(x)); }
__device__ long long bits_of_magnitude(double x) { return __double_as_longlong(fabs(x)); }

// Raises *worst to the largest magnitude in the block.
template <typename T>
__device__ void raise(T* worst, T difference) {
  using Bits = decltype(bits_of_magnitude(T{}));
  __shared__ Bits s[kWarp];
  const int t = threadIdx.y * kWarp + threadIdx.x, warps = blockDim.y;
  Bits bits = bits_of_magnitude(difference);
  for (int half = kWarp / 2; half > 0; half /= 2) {
    bits = max(bits, __shfl_down_sync(~0u, bits, half));
  }
  if (threadIdx.x == 0) s[threadIdx.y] = bits;
  __syncthreads();
  if (t >= kWarp) return;
  bits = t < warps ? s[t] : 0;
  for (int half = kWarp / 2; half > 0; half /= 2) {
    bits = max(bits, __shfl_down_sync(~0u, bits, half));
  }
  if (t == 0) atomicMax(reinterpret_cast<Bits*>(worst), bits);
}

// The lanes of a warp differ in j: they share row i, and read from 32 rows j at once.
template <typename T>
__global__ void orthogonal(T* worst, const T* a, int n) {
  const int j = blockIdx.x * kWarp + threadIdx.x, i = blockIdx.y * kRows + threadIdx.y;
  T sum = 0;
  if (i < n && j < n) {
    for (int k = 0; k < n; ++k) sum += a[i * n + k] * a[j * n + k];
    if (i == j) sum -= 1;
  }
  raise(worst, sum);
}

// Tile (tile_i, tile_j) of A A^T by a block of a thread for each element. Both factors are tiles
// that are read along rows of A. In shared memory the lanes share a word of `of_i`, and go down a
// column of `of_j`: kPitch elements apart.
template <typename T, int kPitch>
__device__ T element(const T* a, int n, int tile_i, int tile_j) {
  __shared__ T of_i[kWarp][kWarp], of_j[kWarp][kPitch];
  const int x = threadIdx.x, y = threadIdx.y;
  const int i = tile_i * kWarp + y, row_j = tile_j * kWarp + y, j = tile_j * kWarp + x;
  T sum = 0;
  for (int first = 0; first < n; first += kWarp) {
    const int k = first + x;
    of_i[y][x] = i < n && k < n ? a[i * n + k] : 0;
    of_j[y][x] = row_j < n && k < n ? a[row_j * n + k] : 0;
    __syncthreads();
    for (int step = 0; step < kWarp; ++step) {
      const T shared_by_all = of_i[y][step];
      sum += shared_by_all * of_j[x][step];
    }
    __syncthreads();
  }
  return i == j && i < n ? sum - 1 : sum;
}

template <typename T, int kPitch>
__global__ void orthogonal_tiles(T* worst, const T* a, int n) {
  raise(worst, element<T, kPitch>(a, n, blockIdx.y, blockIdx.x));
}

// Only the tiles on and below the diagonal: 1, 2, 3, ... in a row.
template <typename T>
__global__ void orthogonal_triangle(T* worst, const T* a, int n) {
  int tile_i = 0, tile_j = blockIdx.x;
  for (; tile_j > tile_i; ++tile_i) tile_j -= tile_i + 1;
  raise(worst, element<T, kWarp + 1>(a, n, tile_i, tile_j));
}

// Row i of one matrix, and neighbouring columns j of the other: no sector is wasted, but each
// element is read for every i and j.
template <typename T>
__global__ void commuting(T* worst, const T* a, const T* b, int n) {
  const int j = blockIdx.x * kWarp + threadIdx.x, i = blockIdx.y * kRows + threadIdx.y;
  T sum = 0;
  if (i < n && j < n) {
    for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j] - b[i * n + k] * a[k * n + j];
  }
  raise(worst, sum);
}

// Both products of a tile at once, of four tiles: lanes share a word of the left factors and go
// along a row of the right ones. There is no column, so nothing needs padding.
template <typename T>
__global__ void commuting_tiles(T* worst, const T* a, const T* b, int n) {
  __shared__ T a_left[kWarp][kWarp], a_right[kWarp][kWarp];
  __shared__ T b_left[kWarp][kWarp], b_right[kWarp][kWarp];
  const int x = threadIdx.x, y = threadIdx.y;
  const int i = blockIdx.y * kWarp + y, j = blockIdx.x * kWarp + x;
  T sum = 0;
  for (int first = 0; first < n; first += kWarp) {
    const int column = first + x, row = first + y;
    const bool left = i < n && column < n, right = row < n && j < n;
    a_left[y][x] = left ? a[i * n + column] : 0;
    b_left[y][x] = left ? b[i * n + column] : 0;
    a_right[y][x] = right ? a[row * n + j] : 0;
    b_right[y][x] = right ? b[row * n + j] : 0;
    __syncthreads();
    for (int k = 0; k < kWarp; ++k) {
      sum += a_left[y][k] * b_right[k][x] - b_left[y][k] * a_right[k][x];
    }
    __syncthreads();
  }
  raise(worst, sum);
}

// The kernels raise *worst from 0.
template <typename T>
void clear(warpgauge::Output<T>& worst) {
  WARPGAUGE_CUDA(cudaMemsetAsync(worst, 0, sizeof(T)));
}

// Blocks of a thread an element, `rows` high.
template <typename T>
void launch(Orthogonal<T>& p, int rows, void (*kernel)(T*, const T*, int)) {
  const dim3 blocks((p.n + kWarp - 1) / kWarp, (p.n + rows - 1) / rows);
  clear(p.worst);
  kernel<<<blocks, dim3(kWarp, rows)>>>(p.worst, p.a, p.n);
}

template <typename T>
void launch(Commuting<T>& p, int rows, void (*kernel)(T*, const T*, const T*, int)) {
  const dim3 blocks((p.n + kWarp - 1) / kWarp, (p.n + rows - 1) / rows);
  clear(p.worst);
  kernel<<<blocks, dim3(kWarp, rows)>>>(p.worst, p.a, p.b, p.n);
}

template <typename T>
void launch_triangle(Orthogonal<T>& p) {
  const int tiles = (p.n + kWarp - 1) / kWarp;
  clear(p.worst);
  orthogonal_triangle<T><<<tiles*(tiles + 1) / 2, dim3(kWarp, kWarp)>>>(p.worst, p.a, p.n);
}

template <typename T>
void add_variants(const warpgauge::Family& family, const char* type) {
  // Whole tiles, and tiles that are not; matrices that pass the check, and that do not.
  const std::vector<warpgauge::Size> sizes = {{256, 0}, {104, 3}, warpgauge::large({1024, 0})};
  const auto of_one = family.problem<Orthogonal<T>>(type, sizes).sizes_between({12, 0}, {1024, 3});
  of_one.variant("orthogonal", [](auto& p) { launch(p, kRows, orthogonal<T>); });
  of_one.variant("orthogonal_tiled", [](auto& p) { launch(p, kWarp, orthogonal_tiles<T, kWarp>); });
  of_one.variant("orthogonal_padded",
                 [](auto& p) { launch(p, kWarp, orthogonal_tiles<T, kWarp + 1>); });
  of_one.variant("orthogonal_triangle", launch_triangle<T>);
  const auto of_two = family.problem<Commuting<T>>(type, sizes).sizes_between({12, 0}, {1024, 3});
  of_two.variant("commuting", [](auto& p) { launch(p, kRows, commuting<T>); });
  of_two.variant("commuting_tiled", [](auto& p) { launch(p, kWarp, commuting_tiles<T>); });
}

WARPGAUGE_FAMILY(matrix_checks) {
  add_variants<float>(family, "f32");
  add_variants<double>(family, "f64");
}

}  // namespace matrix_checks
