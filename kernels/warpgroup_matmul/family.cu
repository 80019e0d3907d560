// The product of matrices of halves by warpgroups: wgmma reads tiles from shared memory, where
// tensor copies have brought them, and works on while the warps do something else.
//
// A warpgroup is four warps, 64 rows of sums in their registers. `simple` has one: a thread asks
// for a tile of A and one of B, all wait for them, multiply, and wait again. In `pipelined` a
// producer asks for tiles as soon as one of four stages is free, and two warpgroups multiply and
// never wait for memory if it keeps up. They need most registers, so the producer gives back its
// own (setmaxnreg), and share each tile of B (128x256 sums a block): fewer bulk.load.bytes. Blocks
// that run together take neighbouring tiles, which stay in the L2 cache. In `multicast` two blocks
// are a cluster, and a tile of B comes to both at once: each block asks for one half of it.
// The mistakes: `small_tile` has 64x64 sums for each warpgroup, so that A is read from shared
// memory for 64 columns instead of 256 (wgmma.wavefronts), and from global memory as well
// (bulk.load.bytes). Without a swizzle (`unswizzled`) wgmma wants matrices of 8 rows of 16 bytes,
// and a box is 16 bytes wide: eight copies for each tile (bulk.load.instructions), of half sectors.
#include "kernels/tensor_map.h"
#include "kernels/warpgroup_matmul/problem.h"
#include "kernels/warpgroup_matmul/wgmma.h"

namespace warpgroup_matmul {

constexpr int kWarp = 32;
constexpr int kWarpgroup = 4 * kWarp;
constexpr int kRows = 64;   // of sums of a warpgroup
constexpr int kDepth = 64;  // of a tile: rows of 128 bytes
constexpr int kPiece = 8;   // halves of 16 bytes
constexpr int kPieces = kDepth / kPiece;
constexpr int kProductDepth = 16;  // of one wgmma
constexpr int kStages = 4;

// A tile of rows of kDepth halves.
template <int kTileRows>
struct Tile {
  uint4 pieces[kTileRows * kPieces];
};

// Tiles whose rows lie one after the other, with piece p of row r at p ^ r % 8.
struct Swizzled {
  static constexpr auto kSwizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  static constexpr int kBoxColumns = kDepth;
  /// The descriptor of 16 of the columns, from 16 * k on.
  template <int kTileRows>
  static __device__ std::uint64_t descriptor(const Tile<kTileRows>& tile, int k) {
    constexpr unsigned kEightRows = 8 * kPieces * sizeof(uint4);
    return ptx::matrix_descriptor(tile.pieces + k * kProductDepth / kPiece, 0, kEightRows, 1);
  }
};

// Tiles of eight columns of pieces.
struct Unswizzled {
  static constexpr auto kSwizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  static constexpr int kBoxColumns = kPiece;
  template <int kTileRows>
  static __device__ std::uint64_t descriptor(const Tile<kTileRows>& tile, int k) {
    return ptx::matrix_descriptor(tile.pieces + k * kProductDepth / kPiece * kTileRows,
                                  kTileRows * sizeof(uint4), 8 * sizeof(uint4), 0);
  }
};

// A block has kBlockRows x kBlockColumns sums, of tiles in this layout. Blocks of a cluster, one
// below the other, share tiles of B, and each copies a part of them.
template <typename LayoutOfTiles, int kBlockRows, int kBlockColumns, int kBlocksOfCluster = 1>
struct Blocked : Product {
  using Layout = LayoutOfTiles;
  static constexpr int kColumns = kBlockColumns;
  static constexpr int kCluster = kBlocksOfCluster;
  CUtensorMap map_a = {}, map_b = {}, map_c = {};

  using Product::Product;
  int rows_of_blocks() const {
    constexpr int kRowsOfCluster = kBlocksOfCluster * kBlockRows;
    return (m + kRowsOfCluster - 1) / kRowsOfCluster * kBlocksOfCluster;
  }
  int columns_of_blocks() const { return (n + kBlockColumns - 1) / kBlockColumns; }
  void prepare() override {
    const auto set = [](CUtensorMap& map, const std::uint16_t* matrix, int rows, int columns,
                        int box_rows, int box_columns, CUtensorMapSwizzle swizzle) {
      warpgauge::set_tensor_map(map, matrix,
                                {CU_TENSOR_MAP_DATA_TYPE_FLOAT16, sizeof(__half), rows, columns,
                                 box_rows, box_columns, swizzle});
    };
    set(map_a, a, m, k, kBlockRows, Layout::kBoxColumns, Layout::kSwizzle);
    set(map_b, b, n, k, kBlockColumns / kBlocksOfCluster, Layout::kBoxColumns, Layout::kSwizzle);
    set(map_c, static_cast<std::uint16_t*>(c), m, n, kRows, kDepth, CU_TENSOR_MAP_SWIZZLE_128B);
  }
};

// One thread asks for a tile from row y and column x on.
template <typename Layout, int kTileRows>
__device__ void ask_for(Tile<kTileRows>& tile, const CUtensorMap& from, int x, int y,
                        ptx::Mbarrier& arrived) {
#pragma unroll
  for (int i = 0; i < kDepth; i += Layout::kBoxColumns) {
    ptx::tensor_load(tile.pieces + i / kPiece * kTileRows, from, x + i, y, arrived);
  }
}

// A warpgroup starts to multiply a tile of A, from this row on, with one of B.
template <typename Layout, int kTileRows, int kColumns>
__device__ void multiply_tiles(float (&sums)[kColumns / 2], const Tile<kTileRows>& a,
                               const Tile<kColumns>& b) {
  ptx::fence_products();
#pragma unroll
  for (int k = 0; k < kDepth / kProductDepth; ++k) {
    ptx::multiply_async(sums, Layout::descriptor(a, k), Layout::descriptor(b, k));
  }
  ptx::commit_products();
}

// A warpgroup stores its sums as halves, by way of shared memory: boxes of 64x64, swizzled, one
// after the other. `barrier` is a number that no other warpgroup has.
template <int kColumns>
__device__ void store_sums(const CUtensorMap& c, int x, int y, uint4* tile,
                           float (&sums)[kColumns / 2], int barrier) {
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x % kWarpgroup / kWarp;
  const int row = warp * 16 + lane % 16;
  // Two matrices of 8x8, one below the other, begin with the sum 4 * piece.
  const auto halves = [&](int sum) {
    const __half2 pair = __floats2half2_rn(sums[sum], sums[sum + 1]);
    return reinterpret_cast<const std::uint32_t&>(pair);
  };
#pragma unroll
  for (int piece = 0; piece < kColumns / kPiece; piece += 2) {
    const int box = piece / kPieces, at = piece % kPieces + lane / 16;
    ptx::store_matrices(
        tile + (box * kRows + row) * kPieces + (at ^ row % 8),
        {halves(4 * piece), halves(4 * piece + 2), halves(4 * piece + 4), halves(4 * piece + 6)});
  }
  ptx::fence_async();
  ptx::sync_threads(barrier, kWarpgroup);
  if (threadIdx.x % kWarpgroup > 0) return;
#pragma unroll
  for (int box = 0; box < kColumns / kDepth; ++box) {
    ptx::tensor_store(c, x + box * kDepth, y, tile + box * kRows * kPieces);
  }
  ptx::commit_stores();
  ptx::wait_until_stored();
}

// ---- One warpgroup that does one thing after the other ----

template <typename Layout, int kColumns>
__global__ void __launch_bounds__(kWarpgroup)
    one_by_one(const __grid_constant__ CUtensorMap c, const __grid_constant__ CUtensorMap a,
               const __grid_constant__ CUtensorMap b, int depth) {
  __shared__ __align__(1024) Tile<kRows> of_a;
  __shared__ __align__(1024) Tile<kColumns> of_b;
  __shared__ ptx::Mbarrier arrived;
  const int x = blockIdx.x * kColumns, y = blockIdx.y * kRows;
  if (threadIdx.x == 0) {
    arrived.initialise(1);
    ptx::Mbarrier::fence_initialised();
  }
  __syncthreads();
  float sums[kColumns / 2] = {};
  for (int k = 0; k < depth; k += kDepth) {
    if (threadIdx.x == 0) {
      arrived.arrive_and_expect(sizeof(of_a) + sizeof(of_b));
      ask_for<Layout>(of_a, a, k, y, arrived);
      ask_for<Layout>(of_b, b, k, x, arrived);
    }
    arrived.wait(k / kDepth % 2);
    multiply_tiles<Layout>(sums, of_a, of_b);
    ptx::wait_for_products();
    __syncthreads();  // the tiles may be filled again
  }
  ptx::use_after_wait(sums);
  store_sums<kColumns>(c, x, y, of_b.pieces, sums, 1);
}

template <typename P>
void launch_one_by_one(P& p) {
  const dim3 blocks(p.columns_of_blocks(), p.rows_of_blocks());
  one_by_one<typename P::Layout, P::kColumns>
      <<<blocks, kWarpgroup>>>(p.map_c, p.map_a, p.map_b, p.k);
}

// ---- A producer and two warpgroups that multiply ----

constexpr int kConsumers = 2;
constexpr int kConsumerWarps = kConsumers * kWarpgroup / kWarp;
constexpr int kBlockRows = kConsumers * kRows;
constexpr int kBlockColumns = 256;
constexpr int kBlockThreads = (1 + kConsumers) * kWarpgroup;

struct Stage {
  Tile<kRows> a[kConsumers];
  Tile<kBlockColumns> b;
};

struct SharedMemory {
  Stage stages[kStages];
  ptx::Mbarrier full[kStages], empty[kStages];
};

// The tile of this block: those of 8 rows of blocks, column by column, then the next 8 rows. So the
// blocks that run together need few rows of A and few columns of B.
__device__ int2 block_tile(int rows, int columns) {
  constexpr int kTogether = 8;
  const int first = blockIdx.x / (kTogether * columns) * kTogether;
  const int together = min(kTogether, rows - first);
  const int within = blockIdx.x % (kTogether * columns);
  return {within / together * kBlockColumns, (first + within % together) * kBlockRows};
}

// For all threads: mbarriers that one of them has initialised can be used.
template <int kCluster>
__device__ void sync_cluster() {
  if constexpr (kCluster == 1) {
    __syncthreads();
  } else {
    ptx::cluster_sync();
  }
}

template <int kCluster>
__global__ void __launch_bounds__(kBlockThreads, 1)
    specialised(const __grid_constant__ CUtensorMap c, const __grid_constant__ CUtensorMap a,
                const __grid_constant__ CUtensorMap b, int depth, int rows, int columns) {
  extern __shared__ __align__(1024) unsigned char memory[];
  SharedMemory& shared = *reinterpret_cast<SharedMemory*>(memory);
  const int2 tile = block_tile(rows, columns);
  if (threadIdx.x == 0) {
    for (ptx::Mbarrier& full : shared.full) full.initialise(1);
    for (ptx::Mbarrier& empty : shared.empty) empty.initialise(kCluster * kConsumerWarps);
    ptx::Mbarrier::fence_initialised();
  }
  sync_cluster<kCluster>();
  const int steps = (depth + kDepth - 1) / kDepth;
  const int consumer = static_cast<int>(threadIdx.x) / kWarpgroup - 1;
  if (consumer < 0) {
    ptx::give_registers<40>();
    if (threadIdx.x > 0) return;
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      const int s = step % kStages;
      Stage& stage = shared.stages[s];
      if (step >= kStages) shared.empty[s].wait((step / kStages - 1) % 2);
      shared.full[s].arrive_and_expect(sizeof(stage));
      ptx::tensor_load(&stage.a, a, step * kDepth, tile.y, shared.full[s]);
      if constexpr (kCluster == 1) {
        ptx::tensor_load(&stage.b, b, step * kDepth, tile.x, shared.full[s]);
      } else {
        constexpr int kShare = kBlockColumns / kCluster;  // rows of the tile
        const int first = static_cast<int>(ptx::cluster_rank()) * kShare;
        ptx::tensor_load_to_all(stage.b.pieces + first * kPieces, b, step * kDepth, tile.x + first,
                                shared.full[s], (1 << kCluster) - 1);
      }
    }
    return;
  }
  ptx::take_registers<232>();
  float sums[kBlockColumns / 2] = {};
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    const int s = step % kStages;
    const Stage& stage = shared.stages[s];
    shared.full[s].wait(step / kStages % 2);
    multiply_tiles<Swizzled>(sums, stage.a[consumer], stage.b);
    ptx::wait_for_products();  // meanwhile the other warpgroup has the tensor cores
    // The stage is free when all warps of the cluster have it behind them: those of a warpgroup may
    // be at different steps.
    const unsigned lane = threadIdx.x % kWarp;
    if constexpr (kCluster == 1) {
      if (lane == 0) shared.empty[s].arrive();
    } else {
      if (lane < kCluster) shared.empty[s].arrive_in(lane);
    }
  }
  ptx::use_after_wait(sums);
  // All tiles were multiplied when both come here: their memory is free.
  ptx::sync_threads(kConsumers + 1, kConsumers * kWarpgroup);
  store_sums<kBlockColumns>(c, tile.x, tile.y + consumer * kRows, shared.stages[consumer].b.pieces,
                            sums, consumer + 1);
  if constexpr (kCluster > 1) ptx::cluster_sync();  // others arrive at this block's mbarriers
}

template <int kBlocksOfCluster>
using Pipelined = Blocked<Swizzled, kBlockRows, kBlockColumns, kBlocksOfCluster>;

template <typename P>
void launch_specialised(P& p) {
  const auto kernel = specialised<P::kCluster>;
  WARPGAUGE_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      sizeof(SharedMemory)));
  const int rows = p.rows_of_blocks(), columns = p.columns_of_blocks();
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {P::kCluster, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(rows * columns);
  config.blockDim = dim3(kBlockThreads);
  config.dynamicSmemBytes = sizeof(SharedMemory);
  config.attrs = &cluster;
  config.numAttrs = 1;
  WARPGAUGE_CUDA(
      cudaLaunchKernelEx(&config, kernel, p.map_c, p.map_a, p.map_b, p.k, rows, columns));
}

template <typename P>
warpgauge::Variants<P> variants(const warpgauge::Family& family) {
  return family.problem<P>("f16", sizes())
      .sizes_between({1, 8, 8}, {8192, 8192, 8192}, {1, 8, 8})
      .relative_to("cublas")
      .needs("sm_90a");
}

WARPGAUGE_FAMILY(warpgroup_matmul) {
  using SmallTile = Blocked<Swizzled, kRows, 64>;
  using InColumns = Blocked<Unswizzled, kRows, 256>;
  using Simple = Blocked<Swizzled, kRows, 256>;
  variants<SmallTile>(family).variant("small_tile", launch_one_by_one<SmallTile>);
  variants<InColumns>(family).variant("unswizzled", launch_one_by_one<InColumns>);
  variants<Simple>(family).variant("simple", launch_one_by_one<Simple>);
  variants<Pipelined<1>>(family).variant("pipelined", launch_specialised<Pipelined<1>>);
  variants<Pipelined<2>>(family).variant("multicast", launch_specialised<Pipelined<2>>);
}

}  // namespace warpgroup_matmul
