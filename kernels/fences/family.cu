// Sum in one launch: the last to finish adds up what the others left in memory.
//
// An atomic ticket says that others have come, not that their results have arrived. A fence before
// the ticket orders the two: a thread that sees the ticket then also sees the result.
//   two_launches   the end of a launch orders everything, at the price of another launch
//   last_block     each block leaves its sum, fences (__threadfence) and takes a ticket in global
//                  memory; the block with the last ticket adds the sums up
//   last_warp      the same one level down: the warps of a block take tickets in shared memory, for
//                  which __threadfence_block is enough, and none waits at a barrier for the others
// Sums are read as volatile, so that no thread takes an older value from a register or from L1. A
// version without the fence is usually right, too: no counter and no result shows that it is lucky.
// (The fence towards the CPU, __threadfence_system, is in family system_scope.)
#include <cstdint>

#include "warpgauge/warpgauge.h"

namespace fences {

constexpr int kThreads = 256, kWarp = 32, kWarps = kThreads / kWarp;

struct Sum : warpgauge::Problem {
  const int n, blocks;
  warpgauge::Input<std::uint32_t> a;
  warpgauge::Output<std::uint32_t> sums;  // one a block
  warpgauge::InOut<std::uint32_t> ticket;
  warpgauge::Output<std::uint32_t> sum;

  explicit Sum(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])),
        blocks((n + kThreads - 1) / kThreads),
        a(*this, n),
        sums(*this, blocks),
        ticket(*this, std::vector<std::uint32_t>{0}),
        sum(*this, 1) {}
  void check(warpgauge::Comparison& comparison) const override {
    std::uint32_t expected = 0;
    for (const std::uint32_t value : a.host()) expected += value;
    comparison.equal(sum, std::vector<std::uint32_t>{expected});
  }
};

__device__ std::uint32_t sum_of_warp(std::uint32_t value) {
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    value += __shfl_down_sync(0xffffffff, value, distance);
  }
  return value;
}

// The sum of what each thread of the block brings, in thread 0.
__device__ std::uint32_t sum_of_block(std::uint32_t value) {
  __shared__ std::uint32_t of_warps[kWarps];
  value = sum_of_warp(value);
  if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = value;
  __syncthreads();
  if (threadIdx.x >= kWarp) return 0;
  return sum_of_warp(threadIdx.x < kWarps ? of_warps[threadIdx.x] : 0);
}

__device__ std::uint32_t element(const std::uint32_t* a, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  return i < n ? a[i] : 0;
}

// This thread's share of the sums of all blocks.
__device__ std::uint32_t share(const volatile std::uint32_t* sums, int blocks) {
  std::uint32_t value = 0;
  for (int b = threadIdx.x; b < blocks; b += kThreads) value += sums[b];
  return value;
}

__global__ void block_sums(std::uint32_t* sums, const std::uint32_t* a, int n) {
  const std::uint32_t value = sum_of_block(element(a, n));
  if (threadIdx.x == 0) sums[blockIdx.x] = value;
}

__global__ void sum_of_sums(std::uint32_t* sum, const std::uint32_t* sums, int blocks) {
  const std::uint32_t value = sum_of_block(share(sums, blocks));
  if (threadIdx.x == 0) *sum = value;
}

__global__ void last_block(std::uint32_t* sum, std::uint32_t* sums, std::uint32_t* ticket,
                           const std::uint32_t* a, int n) {
  __shared__ bool is_last;
  const std::uint32_t of_block = sum_of_block(element(a, n));
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = of_block;
    __threadfence();
    // After the last ticket comes 0 again: the next launch finds what this one found.
    is_last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  const std::uint32_t of_all = sum_of_block(share(sums, gridDim.x));
  if (threadIdx.x == 0) *sum = of_all;
}

// Racecheck reports the words of of_warps here: it knows barriers, and no fences with atomics.
__global__ void last_warp(std::uint32_t* sums, const std::uint32_t* a, int n) {
  __shared__ volatile std::uint32_t of_warps[kWarps];
  __shared__ std::uint32_t ticket;
  if (threadIdx.x == 0) ticket = 0;
  __syncthreads();
  const int lane = threadIdx.x % kWarp;
  const std::uint32_t value = sum_of_warp(element(a, n));
  std::uint32_t drawn = 0;
  if (lane == 0) {
    of_warps[threadIdx.x / kWarp] = value;
    __threadfence_block();
    drawn = atomicAdd(&ticket, 1);
  }
  if (__shfl_sync(0xffffffff, drawn, 0) != kWarps - 1) return;
  const std::uint32_t of_block = sum_of_warp(lane < kWarps ? of_warps[lane] : 0);
  if (lane == 0) sums[blockIdx.x] = of_block;
}

WARPGAUGE_FAMILY(fences) {
  const auto u32 =
      family.problem<Sum>("u32", {{65536}, {100003}, {100}}).sizes_between({1}, {1048576});
  u32.variant("two_launches", [](Sum& p) {
    block_sums<<<p.blocks, kThreads>>>(p.sums, p.a, p.n);
    sum_of_sums<<<1, kThreads>>>(p.sum, p.sums, p.blocks);
  });
  u32.variant("last_block", [](Sum& p) {
    last_block<<<p.blocks, kThreads>>>(p.sum, p.sums, p.ticket, p.a, p.n);
  });
  u32.variant("last_warp", [](Sum& p) {
    last_warp<<<p.blocks, kThreads>>>(p.sums, p.a, p.n);
    sum_of_sums<<<1, kThreads>>>(p.sum, p.sums, p.blocks);
  });
}

}  // namespace fences
