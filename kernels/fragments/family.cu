// Moving tiles into shared memory, and fragments for tensor cores out of it: staging a vector in
// tiles of 1024 floats (type f32), and loading 16x16 fragments with ldmatrix from tiles of 64x64
// 16-bit elements (type b16).
//
// Staging: a wide word moves more with one request, but not in fewer wavefronts, because a
// wavefront has 128 bytes: words of 4, 8, 16 bytes differ in shared.requests and
// global.load.sectors_per_request alone. cp.async writes to shared memory without passing through
// registers; words of 16 bytes can bypass L1 as well.
// ldmatrix reads 8x8 matrices, a row of 16 bytes for each of 8 lanes. Rows 128 bytes apart lie in
// the same 4 banks: 8 ways (shared.bank_ways in `unpadded`). `padded` adds 16 bytes to each row,
// `swizzled` XORs the place of a piece of 16 bytes with its row, which costs no memory.
// With asynchronous copies only one of the two remains a cure. They move sectors of 32 bytes, and
// behind a padding of 16 bytes the two pieces of a sector go to different sectors of shared memory
// in every other row: each is fetched for itself (global.excess_sectors) and written for itself
// (shared.bank_conflicts in `async_padded`). A swizzle keeps both pieces in one sector.
// Before sm_80 there is no cp.async: the same calls copy through registers, without these costs.
#include <cuda_pipeline_primitives.h>

#include <cstdint>

#include "warpgauge/warpgauge.h"

namespace fragments {

constexpr int kWarp = 32;

// ---- Staging a vector ----

constexpr int kStagingThreads = 256;
constexpr int kTileFloats = 1024;

// Tile by tile through shared memory to b. Stands for any kernel that stages its input.
struct Stage : warpgauge::Problem {
  const int n, tiles;  // n is a multiple of 4, so that 16-byte words need no remainder
  warpgauge::Input<float> a;
  warpgauge::Output<float> b;

  explicit Stage(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])),
        tiles((n + kTileFloats - 1) / kTileFloats),
        a(*this, n),
        b(*this, n) {}
  void check(warpgauge::Comparison& comparison) const override { comparison.equal(b, a.host()); }
};

// A load into a register and a store from it.
struct Copy {
  template <typename Word>
  static __device__ void word(Word* to, const Word* from) {
    *to = *from;
  }
  static __device__ void wait() {}
};

// cp.async: the thread goes on and waits once for all its words.
struct AsyncCopy {
  template <typename Word>
  static __device__ void word(Word* to, const Word* from) {
    __pipeline_memcpy_async(to, from, sizeof(Word));
  }
  static __device__ void wait() {
    __pipeline_commit();
    __pipeline_wait_prior(0);
  }
};

// Words are float, float2 or float4. What a thread reads back, others have copied: hence the
// barrier, also behind an asynchronous copy, where a thread waits for its own words only.
template <typename Word, typename How>
__global__ void stage(float* b, const float* a, int n) {
  constexpr int kFloats = sizeof(Word) / sizeof(float);
  __shared__ __align__(16) float tile[kTileFloats];
  const int first = blockIdx.x * kTileFloats;
  for (int i = threadIdx.x * kFloats; i < kTileFloats; i += kStagingThreads * kFloats) {
    if (first + i < n) {
      How::word(reinterpret_cast<Word*>(tile + i), reinterpret_cast<const Word*>(a + first + i));
    }
  }
  How::wait();
  __syncthreads();
  for (int i = threadIdx.x; i < kTileFloats; i += kStagingThreads) {
    if (first + i < n) b[first + i] = tile[i];
  }
}

template <typename Word, typename How>
void launch_stage(Stage& p) {
  stage<Word, How><<<p.tiles, kStagingThreads>>>(p.b, p.a, p.n);
}

// ---- Loading fragments ----

constexpr int kFragmentThreads = 128;  // 4 warps, 16 rows of a tile each
constexpr int kEdge = 64;              // rows and columns of a tile
constexpr int kPiece = 8;              // elements of 16 bytes: what a lane copies, a matrix's row
constexpr int kPieces = kEdge / kPiece;
constexpr int kFragment = 16;  // rows and columns of a fragment: four 8x8 matrices

// Tiles of 64x64, one below the other. b holds what the lanes have got, 8 elements each: lane l has
// of each of its 4 matrices the two elements in row l / 4 from column 2 * (l % 4) on.
struct Fragments : warpgauge::Problem {
  const int tiles;
  warpgauge::Input<std::uint16_t> a;
  warpgauge::Output<std::uint16_t> b;

  explicit Fragments(const warpgauge::Size& size)
      : tiles(static_cast<int>(size[0])),
        a(*this, tiles * kEdge * kEdge),
        b(*this, tiles * kEdge * kEdge) {}
  void check(warpgauge::Comparison& comparison) const override;
};

// CPU reference: fragment after fragment along the rows of fragments, in each lane after lane.
// Matrices 0 and 1 of a fragment lie one below the other, 2 and 3 to the right of them.
void Fragments::check(warpgauge::Comparison& comparison) const {
  std::vector<std::uint16_t> expected(a.count());
  std::size_t at = 0;
  for (int y = 0; y < tiles * kEdge; y += kFragment) {
    for (int x = 0; x < kEdge; x += kFragment) {
      for (int lane = 0; lane < kWarp; ++lane) {
        for (int matrix = 0; matrix < 4; ++matrix) {
          const int row = y + matrix % 2 * 8 + lane / 4;
          const int column = x + matrix / 2 * 8 + lane % 4 * 2;
          expected[at++] = a.host()[row * kEdge + column];
          expected[at++] = a.host()[row * kEdge + column + 1];
        }
      }
    }
  }
  comparison.equal(b, expected);
}

// Where a tile keeps a piece of a row: in units of pieces from its beginning.
struct Unpadded {
  static constexpr int kPitch = kPieces;
  static __device__ int at(int row, int piece) { return row * kPitch + piece; }
};

// Each row begins 4 banks further than the one before.
struct Padded {
  static constexpr int kPitch = kPieces + 1;
  static __device__ int at(int row, int piece) { return row * kPitch + piece; }
};

// XOR with a constant permutes the pieces of a row, and spreads those of a column over 8 places.
struct Swizzled {
  static constexpr int kPitch = kPieces;
  static __device__ int at(int row, int piece) { return row * kPitch + (piece ^ row % kPieces); }
};

// Lane l gives the address of row l % 8 of matrix l / 8, and gets two elements of each matrix.
__device__ uint4 load_matrices(const uint4* row) {
  uint4 f;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(f.x), "=r"(f.y), "=r"(f.z), "=r"(f.w)
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
               : "memory");
  return f;
}

// A block copies its tile in pieces, 4 rows by each warp request. Then each warp loads the 4
// fragments of its 16 rows and writes them as they are.
template <typename Layout, typename How>
__global__ void load_fragments(uint4* b, const uint4* a) {
  __shared__ uint4 tile[kEdge * Layout::kPitch];
  const int t = threadIdx.x, first = blockIdx.x * kEdge * kPieces;
  for (int i = t; i < kEdge * kPieces; i += kFragmentThreads) {
    How::word(tile + Layout::at(i / kPieces, i % kPieces), a + first + i);
  }
  How::wait();
  __syncthreads();
  const int warp = t / kWarp, lane = t % kWarp;
  constexpr int kFragments = kEdge / kFragment;
  for (int k = 0; k < kFragments; ++k) {
    const int row = warp * kFragment + lane % kFragment, piece = 2 * k + lane / kFragment;
    b[first + (warp * kFragments + k) * kWarp + lane] =
        load_matrices(tile + Layout::at(row, piece));
  }
}

template <typename Layout, typename How>
void launch_fragments(Fragments& p) {
  std::uint16_t* b = p.b;
  const std::uint16_t* a = p.a;
  load_fragments<Layout, How><<<p.tiles, kFragmentThreads>>>(reinterpret_cast<uint4*>(b),
                                                             reinterpret_cast<const uint4*>(a));
}

WARPGAUGE_FAMILY(fragments) {
  // Whole tiles; less than one tile.
  const auto f32 =
      family.problem<Stage>("f32", {{262144}, {1000}}).sizes_between({4}, {262144}, {4});
  f32.variant("words", launch_stage<float, Copy>);
  f32.variant("vectors", launch_stage<float4, Copy>);
  const auto whole_tiles =
      family.problem<Stage>("f32", {{262144}, {3072}}).sizes_between({4}, {262144}, {4});
  whole_tiles.variant("async_words", launch_stage<float, AsyncCopy>);
  whole_tiles.variant("async_pairs", launch_stage<float2, AsyncCopy>);
  whole_tiles.variant("async_vectors", launch_stage<float4, AsyncCopy>);
  // The size is the number of tiles.
  const auto b16 = family.problem<Fragments>("b16", {{1}, {100}}).sizes_between({1}, {100});
  b16.variant("unpadded", launch_fragments<Unpadded, Copy>);
  b16.variant("padded", launch_fragments<Padded, Copy>);
  b16.variant("swizzled", launch_fragments<Swizzled, Copy>);
  b16.variant("async_padded", launch_fragments<Padded, AsyncCopy>);
  b16.variant("async_swizzled", launch_fragments<Swizzled, AsyncCopy>);
}

}  // namespace fragments
