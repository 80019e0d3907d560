// Elements of several kinds, each kind with a treatment of its own: the branches that follow.
//
// A warp executes one branch at a time, with the lanes that took it, and so pays
// for every kind that one of its lanes has (branches.divergent, instructions). `per_lane` gives
// neighbouring elements, which are of different kinds, to neighbouring lanes: a warp splits up to
// 32 ways. `per_warp` gives each warp elements of one kind: no branch diverges, although every kind
// is still treated. What that costs are strided reads and writes (global.excess_sectors), which
// data sorted by kind would not have. `uneven_blocks` splits blocks of 48 threads: their second
// warp always has 16 idle lanes, so 12288 elements take 512 warps instead of 384. In `uneven_lanes`
// treatments differ in length only: lanes leave a common loop one after the other and wait for the
// longest. `even_warps` has lanes of equal length in a warp.
#include "warpgauge/warpgauge.h"

namespace divergence {

constexpr int kWarp = 32;
constexpr int kThreads = 1024;         // as many as elements in a tile
constexpr int kUnevenThreads = 48;     // one warp and a half
constexpr unsigned kFactor = 1664525;  // of a linear congruential generator, modulo 2^32
constexpr int kRounds = 16;            // length of a treatment, unless lengths differ

// CPU reference of a treatment: rounds of a generator whose constant depends on the kind.
unsigned treated(unsigned value, unsigned kind, int rounds) {
  for (int round = 0; round < rounds; ++round) value = value * kFactor + kind;
  return value;
}

// Elements of `ways` kinds, which take turns: the size is ways, a power of two up to 32.
struct Kinds : warpgauge::Problem {
  static constexpr int kCount = 12288;  // 12 tiles, and 256 blocks of 48
  const int ways;
  warpgauge::Input<unsigned> a;
  warpgauge::Output<unsigned> b;

  explicit Kinds(const warpgauge::Size& size)
      : ways(static_cast<int>(size[0])), a(*this, kCount), b(*this, kCount) {}
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<unsigned> expected(kCount);
    for (int i = 0; i < kCount; ++i) expected[i] = treated(a.host()[i], i % ways, kRounds);
    comparison.equal(b, expected);
  }
};

// Elements whose treatments take 1 to 32 rounds, in turn. The size is their number.
struct Lengths : warpgauge::Problem {
  const int n;
  warpgauge::Input<unsigned> a;
  warpgauge::Output<unsigned> b;

  explicit Lengths(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])), a(*this, n), b(*this, n) {}
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<unsigned> expected(n);
    for (int i = 0; i < n; ++i) expected[i] = treated(a.host()[i], 1, 1 + i % kWarp);
    comparison.equal(b, expected);
  }
};

// The treatment. A loop that is not unrolled cannot become predicated instructions, so a branch
// around it stays a branch.
__device__ unsigned treat(unsigned value, unsigned kind, int rounds) {
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) value = value * kFactor + kind;
  return value;
}

// Element of a tile for thread t when each warp is to have elements of one kind: warps take turns
// at the kinds, lanes take the elements of their kind in order.
__device__ int element_by_kind(int t, int ways) {
  const int warp = t / kWarp, lane = t % kWarp;
  const int kind = warp % ways, group = warp / ways;
  return (group * kWarp + lane) * ways + kind;
}

// A warp asks for each kind in turn, present or not. Lanes of the kind go in, the others wait.
__device__ void treat_by_kind(unsigned* b, const unsigned* a, int i, int ways) {
  unsigned value = a[i];
#pragma unroll 1
  for (int kind = 0; kind < ways; ++kind) {
    if (i % ways == kind) value = treat(value, kind, kRounds);
  }
  b[i] = value;
}

// Neighbouring elements for neighbouring lanes: up to 32 kinds in a warp.
__global__ void per_lane(unsigned* b, const unsigned* a, int ways) {
  treat_by_kind(b, a, blockIdx.x * blockDim.x + threadIdx.x, ways);
}

// The kind is decided by the warp: no branch divides its lanes.
__global__ void per_warp(unsigned* b, const unsigned* a, int ways) {
  treat_by_kind(b, a, blockIdx.x * kThreads + element_by_kind(threadIdx.x, ways), ways);
}

// The loop ends when the last lane is through: 32 rounds in every warp, 16.5 of use on average.
__global__ void uneven_lanes(unsigned* b, const unsigned* a) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  b[i] = treat(a[i], 1, 1 + i % kWarp);
}

// Warp w of a block does w + 1 rounds, all of them of use.
__global__ void even_warps(unsigned* b, const unsigned* a) {
  const int i = blockIdx.x * kThreads + element_by_kind(threadIdx.x, kWarp);
  b[i] = treat(a[i], 1, 1 + i % kWarp);
}

WARPGAUGE_FAMILY(divergence) {
  const auto kinds = family.problem<Kinds>("u32", {{1}, {2}, {4}, {8}, {16}, {32}});
  kinds.variant("per_lane", [](Kinds& p) {
    per_lane<<<Kinds::kCount / kThreads, kThreads>>>(p.b, p.a, p.ways);
  });
  kinds.variant("uneven_blocks", [](Kinds& p) {
    per_lane<<<Kinds::kCount / kUnevenThreads, kUnevenThreads>>>(p.b, p.a, p.ways);
  });
  kinds.variant("per_warp", [](Kinds& p) {
    per_warp<<<Kinds::kCount / kThreads, kThreads>>>(p.b, p.a, p.ways);
  });
  const auto lengths =
      family.problem<Lengths>("u32", {{8192}}).sizes_between({kThreads}, {65536}, {kThreads});
  lengths.variant("uneven_lanes",
                  [](Lengths& p) { uneven_lanes<<<p.n / kThreads, kThreads>>>(p.b, p.a); });
  lengths.variant("even_warps",
                  [](Lengths& p) { even_warps<<<p.n / kThreads, kThreads>>>(p.b, p.a); });
}

}  // namespace divergence
