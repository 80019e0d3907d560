// Sum of integers: each block of 256 threads adds up its 256 elements.
//
// A tree in shared memory takes 8 steps, and which threads do the adding decides
// its price, the shared.wavefronts of a block. `interleaved` keeps a few lanes of every warp busy;
// `strided` gathers the work in the first warps, but spreads their words over ever fewer banks
// (shared.bank_conflicts) and so wins nothing: 150 wavefronts each. `sequential` has both right:
// 45. `warp_shuffle` exchanges registers and needs 9. `vectorised` pays them once for many loads.
#include "warpgauge/warpgauge.h"

namespace reduce {

constexpr int kThreads = 256;
constexpr int kWarp = 32;

// CPU reference: the sum of each 256 consecutive elements; the last sum may have fewer.
void add_blocks_into(std::vector<int>& sums, const std::vector<int>& a) {
  for (std::size_t block = 0; block < sums.size(); ++block) {
    const std::size_t first = block * kThreads;
    const std::size_t end = first + kThreads < a.size() ? first + kThreads : a.size();
    int sum = 0;
    for (std::size_t i = first; i < end; ++i) sum += a[i];
    sums[block] = sum;
  }
}

// Inputs are at most 32767, so that 256 of them fit into an int.
struct Sum : warpgauge::Problem {
  const int n, blocks;
  warpgauge::Input<int> a;
  warpgauge::Output<int> sums;  // one a block

  explicit Sum(const warpgauge::Size& size)
      : n(static_cast<int>(size.count())),
        blocks((n + kThreads - 1) / kThreads),
        a(*this, n),
        sums(*this, blocks) {}
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<int> expected(blocks);
    add_blocks_into(expected, a.host());
    comparison.equal(sums, expected);
  }
  bool solve_sequentially() override {
    solution_.resize(blocks);
    add_blocks_into(solution_, a.host());
    return true;
  }

 private:
  std::vector<int> solution_;  // of the CPU
};

// Thread t adds its neighbour at distance step while t is a multiple of 2 * step. Up to step 16
// every warp takes part, with ever fewer lanes: 16, 8, 4, 2, 1. (So short a body becomes
// predicated instructions, no branch: the idle lanes do not show in branches.divergent.)
__global__ void interleaved(int* sums, const int* a, int n) {
  __shared__ int s[kThreads];
  const int threads = blockDim.x, t = threadIdx.x, i = blockIdx.x * threads + t;
  s[t] = i < n ? a[i] : 0;
  for (int step = 1; step < threads; step *= 2) {
    __syncthreads();
    if ((t & (2 * step - 1)) == 0) s[t] += s[t + step];
  }
  if (t == 0) sums[blockIdx.x] = s[0];
}

// The first threads of the block make the additions: whole warps drop out, but lanes now reach 2 *
// step words apart: 2, 4, 8 lanes of a full warp want one bank, then fewer as lanes drop out.
__global__ void strided(int* sums, const int* a, int n) {
  __shared__ int s[kThreads];
  const int threads = blockDim.x, t = threadIdx.x, i = blockIdx.x * threads + t;
  s[t] = i < n ? a[i] : 0;
  for (int step = 1; step < threads; step *= 2) {
    __syncthreads();
    const int left = 2 * step * t;
    if (left < threads) s[left] += s[left + step];
  }
  if (t == 0) sums[blockIdx.x] = s[0];
}

// Adding halves instead of neighbours: the first threads work on neighbouring words.
__global__ void sequential(int* sums, const int* a, int n) {
  __shared__ int s[kThreads];
  const int threads = blockDim.x, t = threadIdx.x, i = blockIdx.x * threads + t;
  s[t] = i < n ? a[i] : 0;
  for (int step = threads / 2; step > 0; step /= 2) {
    __syncthreads();
    if (t < step) s[t] += s[t + step];
  }
  if (t == 0) sums[blockIdx.x] = s[0];
}

// Sum over the lanes of a warp, valid in lane 0. Lanes read each other's registers.
__device__ int warp_sum(int value) {
  for (int step = kWarp / 2; step > 0; step /= 2) {
    value += __shfl_down_sync(0xffffffff, value, step);
  }
  return value;
}

// Shared memory only carries one sum a warp to the first warp, behind the only barrier.
__global__ void warp_shuffle(int* sums, const int* a, int n) {
  constexpr int kWarps = kThreads / kWarp;
  __shared__ int s[kWarps];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  const int of_warp = warp_sum(i < n ? a[i] : 0);
  if (t % kWarp == 0) s[t / kWarp] = of_warp;
  __syncthreads();
  if (t >= kWarp) return;
  const int of_block = warp_sum(t < kWarps ? s[t] : 0);
  if (t == 0) sums[blockIdx.x] = of_block;
}

// Each kernel takes (sums, a, n): one launch for all.
void launch(Sum& p, void (*kernel)(int*, const int*, int)) {
  kernel<<<p.blocks, kThreads>>>(p.sums, p.a, p.n);
}

constexpr int kMaxBlocks = 4096;  // several times what any GPU can hold at once
constexpr int kPack = 4;          // elements of a load of 16 bytes
constexpr int kAtOnce = 4;        // loads that a thread has under way
constexpr int kRound = kThreads * kAtOnce * kPack;

// CPU reference: rounds of 4096 elements go to the blocks in turn.
std::vector<int> grid_sums(const std::vector<int>& a, int blocks) {
  std::vector<int> sums(blocks);
  for (std::size_t i = 0; i < a.size(); ++i) sums[i / kRound % blocks] += a[i];
  return sums;
}

// A sum by a limited number of blocks, each of which adds up several rounds. With 2^28 elements a
// block gets 65536, none above 32766: their sum still fits into an int.
struct GridSum : warpgauge::Problem {
  const int n, blocks;
  warpgauge::Input<int> a;
  warpgauge::Output<int> sums;  // one a block

  explicit GridSum(const warpgauge::Size& size)
      : n(static_cast<int>(size.count())),
        blocks(n > kMaxBlocks * kRound ? kMaxBlocks : (n + kRound - 1) / kRound),
        a(*this, n),
        sums(*this, blocks) {}
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(sums, grid_sums(a.host(), blocks));
  }
};

__device__ int pack_sum(int4 a) { return a.x + a.y + a.z + a.w; }

// Memory is as fast as there are bytes on their way: a thread asks for 64 of them, in four loads
// that do not wait for each other, before it adds. Full rounds are contiguous, go to the blocks in
// turn, and have no bounds check that would come between the loads. The block whose turn is next
// takes the rest. The exchange within a block comes once for all its rounds. Neither loop is
// unrolled, so that the loads of a round stay together, and the lanes of a warp in the last one.
__global__ void vectorised(int* sums, const int* a, int n) {
  constexpr int kWarps = kThreads / kWarp;
  __shared__ int s[kWarps];
  const int4* packs = reinterpret_cast<const int4*>(a);
  const int t = threadIdx.x, blocks = gridDim.x, rounds = n / kRound;
  int sum = 0, round = blockIdx.x;
#pragma unroll 1
  for (; round < rounds; round += blocks) {
    int4 pack[kAtOnce];
    for (int k = 0; k < kAtOnce; ++k) pack[k] = packs[(round * kAtOnce + k) * kThreads + t];
    for (int k = 0; k < kAtOnce; ++k) sum += pack_sum(pack[k]);
  }
  if (round == rounds) {
#pragma unroll 1
    for (int i = rounds * kRound + t; i < n; i += kThreads) sum += a[i];
  }
  const int of_warp = warp_sum(sum);
  if (t % kWarp == 0) s[t / kWarp] = of_warp;
  __syncthreads();
  if (t >= kWarp) return;
  const int of_block = warp_sum(t < kWarps ? s[t] : 0);
  if (t == 0) sums[blockIdx.x] = of_block;
}

WARPGAUGE_FAMILY(reduce) {
  // Whole blocks; a last block of 67 elements; less than one block; more than any cache.
  const std::vector<warpgauge::Size> sizes = {
      {1048576}, {1000003}, {100}, warpgauge::large({1 << 28})};
  const auto i32 = family.problem<Sum>("i32", sizes).sizes_between({1}, {1 << 28});
  i32.variant("interleaved", [](Sum& p) { launch(p, interleaved); });
  i32.variant("strided", [](Sum& p) { launch(p, strided); });
  i32.variant("sequential", [](Sum& p) { launch(p, sequential); });
  i32.variant("warp_shuffle", [](Sum& p) { launch(p, warp_shuffle); });
  family.problem<GridSum>("i32", sizes)
      .sizes_between({1}, {1 << 28})
      .variant("vectorised",
               [](GridSum& p) { vectorised<<<p.blocks, kThreads>>>(p.sums, p.a, p.n); });
}

}  // namespace reduce
