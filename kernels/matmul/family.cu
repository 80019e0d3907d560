// Product of two matrices, C = A * B, row by row in memory.
//
// Each element of C needs a row of A and a column of B, so that each element of A and B is needed
// again and again. All variants do the same arithmetic and differ in the place of the operands
// (global.load.requests, shared.wavefronts per operation):
//   naive             from global memory: two loads for each multiplication
//   small_tile, tiled through a tile in shared memory, loaded once for 16 or 32 multiplications
//   transposed_tile   the tile of A turned, so that it can be read along rows as B's; storing a
//                     column then hits one bank (shared.bank_conflicts)
//   padded            the same, cured by one unused element a row
//   register_blocked  8 x 8 elements of C a thread: 16 loads from shared memory for 64
//                     multiplications instead of 2 for one
//   vectorised        the same with 16 bytes a load and two buffers, so that the next tiles are on
//                     their way during the arithmetic
// The last two hold so much in registers that occupancy is low. They need no more: independent
// multiplications of one thread hide latency as well as those of many threads.
#include "kernels/matmul/problem.h"

namespace matmul {

constexpr int kWarp = 32;
constexpr int kHalfWarp = 16;

// One element of C a thread. The lanes of a warp differ in the column: they share the element of A
// and read neighbours of B.
template <typename T>
__global__ void naive(T* c, const T* a, const T* b, int m, int n, int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || column >= n) return;
  T sum = 0;
  for (int l = 0; l < k; ++l) sum += a[row * k + l] * b[l * n + column];
  c[row * n + column] = sum;
}

// The block walks along its rows of A and columns of B tile by tile; every element that a thread
// loads serves kTile threads. Outside of the matrices tiles are zero.
template <typename T, int kTile>
__global__ void tiled(T* c, const T* a, const T* b, int m, int n, int k) {
  __shared__ T tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int i = threadIdx.y, j = threadIdx.x;
  const int row = blockIdx.y * kTile + i, column = blockIdx.x * kTile + j;
  T sum = 0;
  for (int first = 0; first < k; first += kTile) {
    tile_a[i][j] = row < m && first + j < k ? a[row * k + first + j] : T{};
    tile_b[i][j] = first + i < k && column < n ? b[(first + i) * n + column] : T{};
    __syncthreads();
#pragma unroll
    for (int l = 0; l < kTile; ++l) sum += tile_a[i][l] * tile_b[l][j];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

// As `tiled`, but the tile of A is turned while it is stored: its elements that belong to one step
// l then lie side by side, as those of B do. Here this only moves the difficulty from reading to
// storing; where a thread works on several rows (below), it can read them at once. The lanes of a
// warp store a column: elements kPitch apart, in one bank if kPitch is 32.
template <typename T, int kPitch>
__global__ void transposed_tile(T* c, const T* a, const T* b, int m, int n, int k) {
  __shared__ T tile_a[kWarp][kPitch], tile_b[kWarp][kWarp];
  const int i = threadIdx.y, j = threadIdx.x;
  const int row = blockIdx.y * kWarp + i, column = blockIdx.x * kWarp + j;
  T sum = 0;
  for (int first = 0; first < k; first += kWarp) {
    tile_a[j][i] = row < m && first + j < k ? a[row * k + first + j] : T{};
    tile_b[i][j] = first + i < k && column < n ? b[(first + i) * n + column] : T{};
    __syncthreads();
#pragma unroll
    for (int l = 0; l < kWarp; ++l) sum += tile_a[l][i] * tile_b[l][j];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

constexpr int kEdge = 128;     // rows and columns of C that a block of the last two variants makes
constexpr int kEach = 8;       // rows and columns of them that a thread makes
constexpr int kThreads = 256;  // of such a block
constexpr int kAcross = kEdge / kEach;  // threads side by side
constexpr int kDepth = 8;               // columns of A and rows of B in their tiles
static_assert(kAcross * kAcross == kThreads);

// A thread takes every 16th row and column, so that lanes side by side read and write neighbours.
// Tiles are 8 deep: a warp loads 4 rows of A, whole sectors, and stores them as columns. The pitch
// puts its 4 x 8 floats into 32 different banks: 132 is 4 banks on. Of doubles a half-warp has
// 2 x 8 in 16 pairs of banks: 130 is 2 pairs on.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    register_blocked(T* c, const T* a, const T* b, int m, int n, int k) {
  constexpr int kParts = kEdge * kDepth / kThreads, kPitch = kEdge + 16 / sizeof(T);
  __shared__ T tile_a[kDepth][kPitch], tile_b[kDepth][kEdge];
  const int t = threadIdx.x, i = t / kAcross, j = t % kAcross;
  const int row = blockIdx.y * kEdge, column = blockIdx.x * kEdge;  // corner in C
  T sums[kEach][kEach] = {};
  for (int first = 0; first < k; first += kDepth) {
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      const int at = t + part * kThreads;
      const int y = at / kDepth, l = at % kDepth;
      tile_a[l][y] = row + y < m && first + l < k ? a[(row + y) * k + first + l] : T{};
    }
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      const int at = t + part * kThreads;
      const int l = at / kEdge, x = at % kEdge;
      tile_b[l][x] = first + l < k && column + x < n ? b[(first + l) * n + column + x] : T{};
    }
    __syncthreads();
#pragma unroll
    for (int l = 0; l < kDepth; ++l) {
      T from_a[kEach], from_b[kEach];
#pragma unroll
      for (int u = 0; u < kEach; ++u) from_a[u] = tile_a[l][i + u * kAcross];
#pragma unroll
      for (int v = 0; v < kEach; ++v) from_b[v] = tile_b[l][j + v * kAcross];
#pragma unroll
      for (int u = 0; u < kEach; ++u) {
#pragma unroll
        for (int v = 0; v < kEach; ++v) sums[u][v] += from_a[u] * from_b[v];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int u = 0; u < kEach; ++u) {
#pragma unroll
    for (int v = 0; v < kEach; ++v) {
      const int y = row + i + u * kAcross, x = column + j + v * kAcross;
      if (y < m && x < n) c[y * n + x] = sums[u][v];
    }
  }
}

// 16 bytes that are loaded or stored at once.
template <typename T>
struct alignas(16) Vector {
  static constexpr int kCount = 16 / sizeof(T);
  T at[kCount];
};

template <typename T>
__device__ Vector<T> load(const T* from) {
  return *reinterpret_cast<const Vector<T>*>(from);
}

template <typename T>
__device__ void store(T* to, const Vector<T>& vector) {
  *reinterpret_cast<Vector<T>*>(to) = vector;
}

// A thread's part in feeding tiles of A and B: vectors of each, on their way through registers.
// A warp takes 16 rows of A, two vectors side by side of each, and stores them as columns, one
// element a lane: the second vectors lie kVector columns of the tile further, which kPitch makes
// 16 banks, so that the two halves of a warp do not meet.
template <typename T>
struct Feed {
  static constexpr int kVector = Vector<T>::kCount;
  static constexpr int kPitch = kEdge + 4;
  static constexpr int kVectors = kEdge * kDepth / (kThreads * kVector);  // of each matrix
  static constexpr int kStepA = 2 * kVector, kStepB = kThreads * kVector / kEdge;

  const T *next_a, *next_b;  // what is fetched next
  int left_a, left_b;        // columns of A and rows of B from there on; none outside of the matrix
  const int i_a, l_a;        // where a vector of A goes: row of A, first column
  const int l_b, j_b;        // where one of B goes: row of B, first column
  Vector<T> of_a[kVectors], of_b[kVectors];

  __device__ Feed(const T* a, const T* b, int row, int column, int m, int n, int k)
      : i_a(threadIdx.x / 2),
        l_a(threadIdx.x % 2 * kVector),
        l_b(threadIdx.x * kVector / kEdge),
        j_b(threadIdx.x * kVector % kEdge) {
    next_a = a + (row + i_a) * k + l_a;
    next_b = b + l_b * n + column + j_b;
    left_a = row + i_a < m ? k - l_a : 0;
    left_b = column + j_b < n ? k - l_b : 0;
  }
  __device__ void fetch(int n) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      of_a[v] = v * kStepA < left_a ? load(next_a + v * kStepA) : Vector<T>{};
      of_b[v] = v * kStepB < left_b ? load(next_b + v * kStepB * n) : Vector<T>{};
    }
    next_a += kDepth, left_a -= kDepth;
    next_b += kDepth * n, left_b -= kDepth;
  }
  __device__ void put(T (*tile_a)[kPitch], T (*tile_b)[kEdge]) const {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
#pragma unroll
      for (int w = 0; w < kVector; ++w) tile_a[l_a + v * kStepA + w][i_a] = of_a[v].at[w];
      store(&tile_b[l_b + v * kStepB][j_b], of_b[v]);
    }
  }
};

// A warp makes 32 x 64 elements of C, its lanes stand 4 x 8; a thread has the 8 x 8 elements where
// its vectors of A and of B cross. Lanes l and l ^ 1 read the same vector of A, lanes l and l ^ 2
// the same of B: then shared memory serves half a warp at a time, else it would be a quarter.
template <typename T>
__global__ void __launch_bounds__(kThreads, sizeof(T) == 4 ? 2 : 1)
    vectorised(T* c, const T* a, const T* b, int m, int n, int k) {
  constexpr int kVector = Feed<T>::kVector, kVectors = kEach / kVector;
  constexpr int kRows = 4, kColumns = 8;  // of lanes
  __shared__ alignas(16) T tile_a[2][kDepth][Feed<T>::kPitch];
  __shared__ alignas(16) T tile_b[2][kDepth][kEdge];
  const int row = blockIdx.y * kEdge, column = blockIdx.x * kEdge;  // corner in C
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const int lane_row = lane / 16 * 2 + lane / 2 % 2, lane_column = lane / 4 % 4 * 2 + lane % 2;
  const int y = warp / 2 * kRows * kEach + lane_row * kVector;
  const int x = warp % 2 * kColumns * kEach + lane_column * kVector;

  T sums[kEach][kEach] = {};
  Feed<T> feed(a, b, row, column, m, n, k);
  feed.fetch(n);
  feed.put(tile_a[0], tile_b[0]);
  __syncthreads();
  for (int first = 0, buffer = 0; first < k; first += kDepth, buffer ^= 1) {
    const bool more = first + kDepth < k;
    if (more) feed.fetch(n);
#pragma unroll
    for (int l = 0; l < kDepth; ++l) {
      Vector<T> from_a[kVectors], from_b[kVectors];
#pragma unroll
      for (int u = 0; u < kVectors; ++u) {
        from_a[u] = load(&tile_a[buffer][l][y + u * kRows * kVector]);
        from_b[u] = load(&tile_b[buffer][l][x + u * kColumns * kVector]);
      }
#pragma unroll
      for (int u = 0; u < kEach; ++u) {
#pragma unroll
        for (int v = 0; v < kEach; ++v) {
          sums[u][v] += from_a[u / kVector].at[u % kVector] * from_b[v / kVector].at[v % kVector];
        }
      }
    }
    // The other buffer was last read before the barrier of the step before.
    if (more) feed.put(tile_a[buffer ^ 1], tile_b[buffer ^ 1]);
    __syncthreads();
  }
#pragma unroll
  for (int u = 0; u < kEach; ++u) {
    const int to_row = row + y + u / kVector * kRows * kVector + u % kVector;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int to_column = column + x + v * kColumns * kVector;
      Vector<T> vector;
#pragma unroll
      for (int w = 0; w < kVector; ++w) vector.at[w] = sums[u][v * kVector + w];
      if (to_row < m && to_column < n) store(&c[to_row * n + to_column], vector);
    }
  }
}

// Each kernel takes (c, a, b, m, n, k): one launch for all.
template <typename T>
void launch(Product<T>& p, void (*kernel)(T*, const T*, const T*, int, int, int), int edge,
            dim3 threads) {
  kernel<<<p.blocks(edge), threads>>>(p.c, p.a, p.b, p.m, p.n, p.k);
}

template <typename T>
void add_variants(const warpgauge::Variants<Product<T>>& to) {
  const dim3 small(kHalfWarp, kHalfWarp), square(kWarp, kWarp);
  to.variant("naive", [=](auto& p) { launch(p, naive<T>, kWarp, square); });
  to.variant("small_tile", [=](auto& p) { launch(p, tiled<T, kHalfWarp>, kHalfWarp, small); });
  to.variant("tiled", [=](auto& p) { launch(p, tiled<T, kWarp>, kWarp, square); });
  to.variant("transposed_tile",
             [=](auto& p) { launch(p, transposed_tile<T, kWarp>, kWarp, square); });
  to.variant("padded", [=](auto& p) { launch(p, transposed_tile<T, kWarp + 1>, kWarp, square); });
  to.variant("register_blocked", [](auto& p) { launch(p, register_blocked<T>, kEdge, kThreads); });
  to.variant("vectorised", [](auto& p) { launch(p, vectorised<T>, kEdge, kThreads); });
}

WARPGAUGE_FAMILY(matmul) {
  add_variants(family.problem<Product<float>>("f32", sizes())
                   .sizes_between({1, 4, 4}, {4096, 4096, 4096}, {1, 4, 4})
                   .relative_to("cublas"));
  add_variants(family.problem<Product<double>>("f64", sizes())
                   .sizes_between({1, 4, 4}, {4096, 4096, 4096}, {1, 4, 4})
                   .relative_to("cublas"));
}

}  // namespace matmul
