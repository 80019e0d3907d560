// The end of a matrix product: fragments of tensor cores go to shared memory, and a tensor copy
// takes the tile to global memory.
//
// A lane has two neighbours of each 8x8 matrix of halves: 4 lanes have a row. With ordinary stores
// (`words`) the 8 rows of a matrix, 128 bytes apart, lie in the same 4 banks: shared.bank_ways is
// 8. stmatrix stores four matrices with one request instead of eight halves of them (`matrices`):
// fewer shared.requests, and the same conflicts, because the rows lie at the same places. The cure
// is a swizzle: piece p of row r goes to p ^ r % 8, and a tensor map with
// CU_TENSOR_MAP_SWIZZLE_128B puts it back on its way out. `swizzled_words` has no conflicts, and
// `swizzled_matrices` a quarter of its requests.
#include <cuda_fp16.h>

#include <cstdint>

#include "kernels/ptx.h"
#include "kernels/tensor_map.h"
#include "warpgauge/warpgauge.h"

namespace matrix_store {

constexpr int kWarp = 32;
constexpr int kWarps = 4;
constexpr int kThreads = kWarps * kWarp;
constexpr int kEdge = 64;                  // rows and columns of a block's tile
constexpr int kPiece = 8;                  // halves of 16 bytes, a row of an 8x8 matrix
constexpr int kPieces = kEdge / kPiece;    // of a row of the tile
constexpr int kWarpRows = kEdge / kWarps;  // of the tile
constexpr int kDepth = 16;                 // of the product

// C = A * B: A has rows of 16 halves, B columns of 16. Elements are small integers, so that all
// sums are exact.
struct Product : warpgauge::Problem {
  const int rows, columns;  // a multiple of 8 columns, as rows of tensors are of 16 bytes
  const CUtensorMapSwizzle swizzle;
  warpgauge::Input<std::uint16_t> a, b;
  warpgauge::Output<std::uint16_t> c;
  CUtensorMap map_c = {};

  Product(const warpgauge::Size& size, CUtensorMapSwizzle swizzle)
      : rows(static_cast<int>(size[0])),
        columns(static_cast<int>(size[1])),
        swizzle(swizzle),
        a(*this, halves(rows, 1)),
        b(*this, halves(columns, 2)),
        c(*this, size.count()) {}
  void prepare() override {
    std::uint16_t* to = c;
    warpgauge::set_tensor_map(
        map_c, to,
        {CU_TENSOR_MAP_DATA_TYPE_FLOAT16, sizeof(__half), rows, columns, kEdge, kEdge, swizzle});
  }
  double flops() const override { return 2.0 * rows * columns * kDepth; }
  /// CPU reference.
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<std::uint16_t> expected(c.count());
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        float sum = 0;
        for (int k = 0; k < kDepth; ++k) {
          sum += value(a.host()[i * kDepth + k]) * value(b.host()[j * kDepth + k]);
        }
        expected[i * columns + j] = __half_as_ushort(__float2half_rn(sum));
      }
    }
    comparison.equal(c, expected);
  }

 private:
  static float value(std::uint16_t half) { return __half2float(__ushort_as_half(half)); }
  /// Integers from -3 to 3.
  static std::vector<std::uint16_t> halves(int vectors, std::uint32_t seed) {
    std::vector<std::uint16_t> values;
    for (const int random : warpgauge::random_values<int>(vectors * kDepth, seed)) {
      values.push_back(__half_as_ushort(__int2half_rn(random % 7 - 3)));
    }
    return values;
  }
};

// Where a tile has a piece of a row: in units of pieces from its beginning.
struct Unswizzled : Product {
  explicit Unswizzled(const warpgauge::Size& size) : Product(size, CU_TENSOR_MAP_SWIZZLE_NONE) {}
  static __device__ int at(int row, int piece) { return row * kPieces + piece; }
};

struct Swizzled : Product {
  explicit Swizzled(const warpgauge::Size& size) : Product(size, CU_TENSOR_MAP_SWIZZLE_128B) {}
  static __device__ int at(int row, int piece) { return row * kPieces + (piece ^ row % kPieces); }
};

// Two 8x8 matrices, one below the other: what mma gives of 16x8 sums.
struct Sums {
  std::uint32_t upper = 0, lower = 0;
};

// 16x8 sums of 16 products. Lane l has 4 elements, of any k that are the same for A and B, of the
// rows l / 4 and l / 4 + 8 of A, and of column l / 4 of B.
__device__ Sums multiply(uint2 a_upper, uint2 a_lower, uint2 b) {
  Sums sums;
  WARPGAUGE_PTX_SM90(
      "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
      "{%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
      : "+r"(sums.upper), "+r"(sums.lower)
      : "r"(a_upper.x), "r"(a_lower.x), "r"(a_upper.y), "r"(a_lower.y), "r"(b.x), "r"(b.y));
  return sums;
}

// A quarter of a vector of 16 halves, whole sectors for 4 lanes; zeros behind the last vector.
__device__ uint2 quarter(const uint2* vectors, int vector, int count) {
  return vector < count ? vectors[vector * 4 + threadIdx.x % 4] : uint2{0, 0};
}

// Each lane stores a row of two halves of each matrix.
template <typename Layout>
struct Words {
  static __device__ void store(uint4* tile, const Sums (&sums)[kPieces]) {
    const int lane = threadIdx.x % kWarp;
    const int row = threadIdx.x / kWarp * kWarpRows + lane / 4;
#pragma unroll
    for (int piece = 0; piece < kPieces; ++piece) {
      const auto word = [&](int of_row) {
        return reinterpret_cast<std::uint32_t*>(tile + Layout::at(of_row, piece)) + lane % 4;
      };
      *word(row) = sums[piece].upper;
      *word(row + 8) = sums[piece].lower;
    }
  }
};

// A warp stores four matrices at a time.
template <typename Layout>
struct Matrices {
  static __device__ void store(uint4* tile, const Sums (&sums)[kPieces]) {
    const int lane = threadIdx.x % kWarp;
    const int row = threadIdx.x / kWarp * kWarpRows + lane % 16;
#pragma unroll
    for (int piece = 0; piece < kPieces; piece += 2) {
      ptx::store_matrices(
          tile + Layout::at(row, piece + lane / 16),
          {sums[piece].upper, sums[piece].lower, sums[piece + 1].upper, sums[piece + 1].lower});
    }
  }
};

template <typename Store>
__global__ void multiply_tile(const __grid_constant__ CUtensorMap c, const uint2* a, const uint2* b,
                              int rows, int columns) {
  __shared__ __align__(1024) uint4 tile[kEdge * kPieces];
  const int warp = threadIdx.x / kWarp, group = threadIdx.x % kWarp / 4;
  const int x = blockIdx.x * kEdge, y = blockIdx.y * kEdge;
  const int row = y + warp * kWarpRows + group;
  const uint2 upper = quarter(a, row, rows), lower = quarter(a, row + 8, rows);
  Sums sums[kPieces];
#pragma unroll
  for (int piece = 0; piece < kPieces; ++piece) {
    sums[piece] = multiply(upper, lower, quarter(b, x + piece * kPiece + group, columns));
  }
  Store::store(tile, sums);
  ptx::fence_async();
  __syncthreads();
  if (threadIdx.x > 0) return;
  ptx::tensor_store(c, x, y, tile);
  ptx::commit_stores();
  ptx::wait_until_stored();
}

template <typename Layout, typename Store>
void launch(Layout& p) {
  const dim3 blocks((p.columns + kEdge - 1) / kEdge, (p.rows + kEdge - 1) / kEdge);
  const std::uint16_t *a = p.a, *b = p.b;
  multiply_tile<Store><<<blocks, kThreads>>>(p.map_c, reinterpret_cast<const uint2*>(a),
                                             reinterpret_cast<const uint2*>(b), p.rows, p.columns);
}

WARPGAUGE_FAMILY(matrix_store) {
  // 12 whole tiles; 4, of which three are not.
  const std::vector<warpgauge::Size> sizes = {{256, 192}, {100, 80}};
  const auto unswizzled = family.problem<Unswizzled>("f16", sizes)
                              .sizes_between({1, 8}, {4096, 4096}, {1, 8})
                              .needs("sm_90");
  unswizzled.variant("words", launch<Unswizzled, Words<Unswizzled>>);
  unswizzled.variant("matrices", launch<Unswizzled, Matrices<Unswizzled>>);
  const auto swizzled = family.problem<Swizzled>("f16", sizes)
                            .sizes_between({1, 8}, {4096, 4096}, {1, 8})
                            .needs("sm_90");
  swizzled.variant("swizzled_words", launch<Swizzled, Words<Swizzled>>);
  swizzled.variant("swizzled_matrices", launch<Swizzled, Matrices<Swizzled>>);
}

}  // namespace matrix_store
