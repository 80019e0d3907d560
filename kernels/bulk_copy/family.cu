// Rows of a matrix turned round, eight at a time in shared memory: who brings them there?
//
// In `ordinary` all threads load words into registers and store them to shared memory. A bulk copy
// (cp.async.bulk) brings the whole tile with one instruction of one thread (`single`): the copy
// engine fetches it, its bytes arrive at an mbarrier, and all threads wait for that. No register
// and no request of theirs is in it: global.load.requests is 0, and half of shared.requests is
// left. The bytes have rows of their own (bulk.*).
// While the block works on a tile, the engine can bring the next one (`double_buffered`), and take
// the one before back (`both_ways`): threads turn a tile round in place, and fence.proxy.async
// makes what they wrote known to the engine.
// The mistake: `small_copies` asks for 128 bytes at a time, with 126 or 128 instructions a
// tile, one after the other, instead of 1.
#include "kernels/ptx.h"
#include "warpgauge/warpgauge.h"

namespace bulk_copy {

constexpr int kWarp = 32;
constexpr int kTileRows = 8;  // a warp for each
constexpr int kThreads = kTileRows * kWarp;
constexpr int kMostColumns = 512;
constexpr int kTileElements = kTileRows * kMostColumns;
constexpr int kBlocks = 16;  // each takes every 16th tile

struct Rows : warpgauge::Problem {
  const int rows, columns;  // a multiple of 8 columns: rows begin with a sector
  warpgauge::Input<float> a;
  warpgauge::Output<float> b;

  explicit Rows(const warpgauge::Size& size)
      : rows(static_cast<int>(size[0])),
        columns(static_cast<int>(size[1])),
        a(*this, size.count()),
        b(*this, size.count()) {}
  /// CPU reference.
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<float> expected(a.count());
    for (int row = 0; row < rows; ++row) {
      for (int i = 0; i < columns; ++i) {
        expected[row * columns + i] = a.host()[row * columns + columns - 1 - i];
      }
    }
    comparison.equal(b, expected);
  }
};

// A matrix in tiles of whole rows, the last with fewer.
struct Tiles {
  int rows, columns;

  __device__ int count() const { return (rows + kTileRows - 1) / kTileRows; }
  __device__ int first(int tile) const { return tile * kTileRows * columns; }
  __device__ int rows_of(int tile) const { return min(kTileRows, rows - tile * kTileRows); }
  __device__ int bytes_of(int tile) const {
    return rows_of(tile) * columns * static_cast<int>(sizeof(float));
  }
};

// A warp writes its row of a tile to global memory, from the end on. Loops along a row are not
// unrolled: lanes that have a round less than the others would leave them for it, and come back
// later.
__device__ void write_turned(float* b, const float* tile, int rows, int columns) {
  const int row = threadIdx.x / kWarp;
  if (row >= rows) return;
#pragma unroll 1
  for (int i = threadIdx.x % kWarp; i < columns; i += kWarp) {
    b[row * columns + i] = tile[row * columns + columns - 1 - i];
  }
}

__global__ void ordinary(float* b, const float* a, Tiles tiles) {
  __shared__ float tile[kTileElements];
  const int columns = tiles.columns, row = threadIdx.x / kWarp;
  for (int t = blockIdx.x; t < tiles.count(); t += kBlocks) {
    if (row < tiles.rows_of(t)) {
#pragma unroll 1
      for (int i = threadIdx.x % kWarp; i < columns; i += kWarp) {
        tile[row * columns + i] = a[tiles.first(t) + row * columns + i];
      }
    }
    __syncthreads();
    write_turned(b + tiles.first(t), tile, tiles.rows_of(t), columns);
    __syncthreads();
  }
}

// One thread asks for a tile, in copies of at most kCopyBytes.
template <int kCopyBytes>
__device__ void ask_for(float* to, const float* from, int bytes, ptx::Mbarrier& arrived) {
  arrived.arrive_and_expect(bytes);
#pragma unroll 1
  for (int done = 0; done < bytes; done += kCopyBytes) {
    constexpr int kElements = sizeof(float);
    ptx::bulk_load(to + done / kElements, from + done / kElements, min(kCopyBytes, bytes - done),
                   arrived);
  }
}

// Has the next kBuffers - 1 tiles on their way while a block works on one.
template <int kBuffers, int kCopyBytes>
__global__ void by_bulk_loads(float* b, const float* a, Tiles tiles) {
  __shared__ __align__(128) float buffers[kBuffers][kTileElements];
  __shared__ ptx::Mbarrier arrived[kBuffers];
  const auto ask = [&](int t, int buffer) {
    if (threadIdx.x > 0 || t >= tiles.count()) return;
    ask_for<kCopyBytes>(buffers[buffer], a + tiles.first(t), tiles.bytes_of(t), arrived[buffer]);
  };
  if (threadIdx.x == 0) {
    for (ptx::Mbarrier& barrier : arrived) barrier.initialise(1);
    ptx::Mbarrier::fence_initialised();
  }
  __syncthreads();
  if (kBuffers > 1) ask(blockIdx.x, 0);
  int round = 0;
  for (int t = blockIdx.x; t < tiles.count(); t += kBlocks, ++round) {
    ask(t + (kBuffers - 1) * kBlocks, (round + kBuffers - 1) % kBuffers);
    const int buffer = round % kBuffers;
    arrived[buffer].wait(round / kBuffers % 2);
    write_turned(b + tiles.first(t), buffers[buffer], tiles.rows_of(t), tiles.columns);
    ptx::fence_async();
    __syncthreads();  // the buffer may be filled again
  }
}

// A warp turns its row round in place.
__device__ void turn(float* tile, int rows, int columns) {
  const int row = threadIdx.x / kWarp;
  if (row >= rows) return;
  float* const first = tile + row * columns;
  float* const last = first + columns - 1;
#pragma unroll 1
  for (int i = threadIdx.x % kWarp; i < columns / 2; i += kWarp) {
    const float kept = first[i];
    first[i] = last[-i];
    last[-i] = kept;
  }
}

__global__ void by_bulk_loads_and_stores(float* b, const float* a, Tiles tiles) {
  __shared__ __align__(128) float buffers[2][kTileElements];
  __shared__ ptx::Mbarrier arrived[2];
  const auto ask = [&](int t, int buffer) {
    if (t >= tiles.count()) return;
    arrived[buffer].arrive_and_expect(tiles.bytes_of(t));
    ptx::bulk_load(buffers[buffer], a + tiles.first(t), tiles.bytes_of(t), arrived[buffer]);
  };
  if (threadIdx.x == 0) {
    for (ptx::Mbarrier& barrier : arrived) barrier.initialise(1);
    ptx::Mbarrier::fence_initialised();
    ask(blockIdx.x, 0);
  }
  __syncthreads();
  int round = 0;
  for (int t = blockIdx.x; t < tiles.count(); t += kBlocks, ++round) {
    const int buffer = round % 2;
    if (threadIdx.x == 0) {
      ptx::wait_until_read();  // the other buffer, which was stored in the round before
      ask(t + kBlocks, 1 - buffer);
    }
    arrived[buffer].wait(round / 2 % 2);
    turn(buffers[buffer], tiles.rows_of(t), tiles.columns);
    ptx::fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
      ptx::bulk_store(b + tiles.first(t), buffers[buffer], tiles.bytes_of(t));
      ptx::commit_stores();
    }
  }
  if (threadIdx.x == 0) ptx::wait_until_stored();
}

void launch(void (*kernel)(float*, const float*, Tiles), Rows& p) {
  kernel<<<kBlocks, kThreads>>>(p.b, p.a, Tiles{p.rows, p.columns});
}

WARPGAUGE_FAMILY(bulk_copy) {
  // 64 whole tiles, 4 a block; 37 tiles of 8 shorter rows and one of 5.
  const auto f32 = family.problem<Rows>("f32", {{512, 512}, {301, 504}})
                       .sizes_between({1, 8}, {4096, kMostColumns}, {1, 8});
  constexpr int kWhole = kTileElements * sizeof(float);
  f32.variant("ordinary", [](Rows& p) { launch(ordinary, p); });
  const auto bulk = f32.needs("sm_90");
  bulk.variant("small_copies", [](Rows& p) { launch(by_bulk_loads<1, 128>, p); });
  bulk.variant("single", [](Rows& p) { launch(by_bulk_loads<1, kWhole>, p); });
  bulk.variant("double_buffered", [](Rows& p) { launch(by_bulk_loads<2, kWhole>, p); });
  bulk.variant("both_ways", [](Rows& p) { launch(by_bulk_loads_and_stores, p); });
}

}  // namespace bulk_copy
