// Transposition of a matrix, B[x][y] = A[y][x]: rows are read, columns are written.
//
// A warp moves whole 32-byte sectors and wants the words of a request side by side. Of a matrix and
// its transpose only one can be walked that way, so `naive` scatters its stores
// (global.excess_sectors). Turning a tile in shared memory cures that, but a column of the
// tile lies in one bank (shared.bank_conflicts, shared.bank_ways). Two cures: one unused word at
// the end of each tile row, or a column index XORed with the row, which costs no memory.
// After that only time differs, and a plain copy is the yardstick (time.relative_to): with
// one element a thread, all of a block waits for one load each. `several_each` and `wide_tile` have
// 4 to 16 loads of each thread on their way at once.
#include "warpgauge/warpgauge.h"

namespace transpose {

constexpr int kWarp = 32;      // a tile as wide as a warp: each warp moves one tile row
constexpr int kHalfWarp = 16;  // a tile of half that width: each warp moves two tile rows
constexpr int kTileWarps = 8;  // warps that share the rows of a tile in several_each

// CPU reference: `a` has h rows of w elements, the result w rows of h. A band of 16 columns at a
// time, so that the CPU uses all of a cache line before it is gone.
template <typename T>
void transpose_into(std::vector<T>& b, const std::vector<T>& a, int w, int h) {
  constexpr int kBand = 16;
  for (int band = 0; band < w; band += kBand) {
    const int end = band + kBand < w ? band + kBand : w;
    for (int y = 0; y < h; ++y) {
      for (int x = band; x < end; ++x) b[x * h + y] = a[y * w + x];
    }
  }
}

template <typename T>
struct Transpose : warpgauge::Problem {
  const int h, w;  // rows and columns of a
  warpgauge::Input<T> a;
  warpgauge::Output<T> b;

  explicit Transpose(const warpgauge::Size& size)
      : h(static_cast<int>(size[0])),
        w(static_cast<int>(size[1])),
        a(*this, size.count()),
        b(*this, size.count()) {}

  /// Blocks of edge x edge elements that cover a.
  dim3 blocks(int edge) const { return dim3((w + edge - 1) / edge, (h + edge - 1) / edge); }
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<T> expected(a.count());
    transpose_into(expected, a.host(), w, h);
    comparison.equal(b, expected);
  }
  bool solve_sequentially() override {
    solution_.resize(a.count());
    transpose_into(solution_, a.host(), w, h);
    return true;
  }

 private:
  std::vector<T> solution_;  // of the CPU
};

// The yardstick of transpositions: as many bytes, moved by the copy of the runtime.
template <typename T>
struct Copy : Transpose<T> {
  using Transpose<T>::Transpose;
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(this->b, this->a.host());
  }
  bool solve_sequentially() override { return false; }  // no transposition
};

// Every lane moves its own element. The lanes of a warp differ in x: they read neighbours, but
// write h elements apart, one sector each. A block 16 wide puts two rows into a warp, so that
// two lanes share each sector that is written: half the harm, for the cost of a smaller block.
template <typename T>
__global__ void naive(T* b, const T* a, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  const T value = a[y * w + x];
  b[x * h + y] = value;
}

// The block reads a tile row by row and writes it column by column, so that both global accesses
// go along rows. What was scattered is now the column tile[i][j], read by lanes that differ in i:
// they are kPitch elements apart. With a pitch of 32 words that is one bank; with 33 words each
// row begins one bank further and the column touches every bank once.
template <typename T, int kTile, int kPitch>
__global__ void through_tile(T* b, const T* a, int w, int h) {
  __shared__ T tile[kTile][kPitch];
  const int x = blockIdx.x * kTile, y = blockIdx.y * kTile;  // corner of the tile in a
  const int i = threadIdx.x, j = threadIdx.y;
  if (x + i < w && y + j < h) tile[j][i] = a[(y + j) * w + x + i];
  __syncthreads();
  if (x + j < w && y + i < h) b[(x + j) * h + y + i] = tile[i][j];
}

// Element (row, column) is kept in place column ^ row of its row. XOR with a constant permutes,
// so a row still fills all places, and the lanes of a column find theirs in 32 different banks.
template <typename T>
__global__ void swizzled(T* b, const T* a, int w, int h) {
  __shared__ T tile[kWarp][kWarp];
  const int x = blockIdx.x * kWarp, y = blockIdx.y * kWarp;
  const int i = threadIdx.x, j = threadIdx.y;
  if (x + i < w && y + j < h) tile[j][i ^ j] = a[(y + j) * w + x + i];
  __syncthreads();
  if (x + j < w && y + i < h) b[(x + j) * h + y + i] = tile[i][j ^ i];
}

// A tile of kTile x kTile elements by 32 x 8 threads: a warp moves every eighth row, a thread
// several elements. All of them are loaded before the first is stored, so that a thread waits once
// for all its loads; and 256 threads wait for each other at the barrier instead of 1024. A tile
// twice as wide as a warp makes the rows in memory twice as long, which is easier on DRAM.
template <typename T, int kTile>
__global__ void several_each(T* b, const T* a, int w, int h) {
  constexpr int kAcross = kTile / kWarp, kDown = kTile / kTileWarps;
  __shared__ T tile[kTile][kTile + 1];
  const int x = blockIdx.x * kTile, y = blockIdx.y * kTile;
  const int lane = threadIdx.x, warp = threadIdx.y;
  T values[kDown][kAcross];
#pragma unroll
  for (int n = 0; n < kDown * kAcross; ++n) {
    const int i = n % kAcross * kWarp + lane, j = n / kAcross * kTileWarps + warp;
    const bool inside = x + i < w && y + j < h;
    values[n / kAcross][n % kAcross] = inside ? a[(y + j) * w + x + i] : T{};
  }
#pragma unroll
  for (int n = 0; n < kDown * kAcross; ++n) {
    const int i = n % kAcross * kWarp + lane, j = n / kAcross * kTileWarps + warp;
    tile[j][i] = values[n / kAcross][n % kAcross];
  }
  __syncthreads();
#pragma unroll
  for (int n = 0; n < kDown * kAcross; ++n) {
    const int i = n % kAcross * kWarp + lane, j = n / kAcross * kTileWarps + warp;
    if (x + j < w && y + i < h) b[(x + j) * h + y + i] = tile[i][j];
  }
}

template <typename T>
void launch_naive(Transpose<T>& p, int edge) {
  naive<T><<<p.blocks(edge), dim3(edge, edge)>>>(p.b, p.a, p.w, p.h);
}

template <typename T, int kTile, int kPitch>
void launch_through_tile(Transpose<T>& p) {
  through_tile<T, kTile, kPitch><<<p.blocks(kTile), dim3(kTile, kTile)>>>(p.b, p.a, p.w, p.h);
}

template <typename T>
void launch_swizzled(Transpose<T>& p) {
  swizzled<T><<<p.blocks(kWarp), dim3(kWarp, kWarp)>>>(p.b, p.a, p.w, p.h);
}

template <typename T, int kTile>
void launch_several_each(Transpose<T>& p) {
  several_each<T, kTile><<<p.blocks(kTile), dim3(kWarp, kTileWarps)>>>(p.b, p.a, p.w, p.h);
}

template <typename T>
void launch_copy(Copy<T>& p) {
  WARPGAUGE_CUDA(
      cudaMemcpyAsync(p.b, p.a, p.a.count() * sizeof(T), cudaMemcpyDeviceToDevice, nullptr));
}

template <typename T>
void add_variants(const warpgauge::Variants<Transpose<T>>& to) {
  to.variant("naive", [](auto& p) { launch_naive(p, kWarp); });
  to.variant("naive_small_block", [](auto& p) { launch_naive(p, kHalfWarp); });
  to.variant("tiled", launch_through_tile<T, kWarp, kWarp>);
  to.variant("padded", launch_through_tile<T, kWarp, kWarp + 1>);
  to.variant("swizzled", launch_swizzled<T>);
  to.variant("several_each", launch_several_each<T, kWarp>);
  to.variant("wide_tile", launch_several_each<T, 2 * kWarp>);
  // Old GPUs had 16 banks and served half a warp at a time; there one word of padding cured a
  // tile 16 wide. With 32 banks and two tile rows to a warp it takes two words.
  to.variant("small_tile", launch_through_tile<T, kHalfWarp, kHalfWarp>);
  to.variant("small_tile_padded", launch_through_tile<T, kHalfWarp, kHalfWarp + 1>);
  to.variant("small_tile_padded_twice", launch_through_tile<T, kHalfWarp, kHalfWarp + 2>);
}

WARPGAUGE_FAMILY(transpose) {
  const std::vector<warpgauge::Size> sizes = {
      {1024, 1024}, {512, 2048}, {1000, 700}, warpgauge::large({16384, 16384})};
  add_variants(family.problem<Transpose<float>>("f32", sizes)
                   .sizes_between({1, 1}, {16384, 16384})
                   .relative_to("copy"));
  add_variants(family.problem<Transpose<double>>("f64", sizes)
                   .sizes_between({1, 1}, {16384, 16384})
                   .relative_to("copy"));
  family.problem<Copy<float>>("f32", sizes)
      .sizes_between({1, 1}, {16384, 16384})
      .uncounted("copy", launch_copy<float>);
  family.problem<Copy<double>>("f64", sizes)
      .sizes_between({1, 1}, {16384, 16384})
      .uncounted("copy", launch_copy<double>);
}

}  // namespace transpose
