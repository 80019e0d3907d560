// Block b adds up a window of 32 words, a[b], a[b + 1], ..., and every thread wants the sum.
//
// Lanes that read the same word make a request of one sector (global.load.sectors_per_request), so
// a uniform load wastes no bandwidth: `uniform`. But each word costs a request of its own
// (global.load.requests). `shared_out` lets each lane load one word of the window and hands them
// round by shuffles: one request of 4 or 5 sectors instead of 32. This pays where loads are the
// bottleneck; otherwise the simple loop is as good, because the words are in the L1 cache after the
// first request.
#include "warpgauge/warpgauge.h"

namespace uniform_load {

constexpr int kThreads = 128;
constexpr int kWindow = 32;  // words of a window, and lanes of a warp

// CPU reference: the sum of the window of each block, once for each of its threads.
std::vector<int> window_sums(const std::vector<int>& a, int blocks) {
  std::vector<int> sums(blocks * kThreads);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    for (int k = 0; k < kWindow; ++k) sums[i] += a[i / kThreads + k];
  }
  return sums;
}

// The size is the number of blocks.
struct WindowSums : warpgauge::Problem {
  const int blocks;
  warpgauge::Input<int> a;
  warpgauge::Output<int> sums;

  explicit WindowSums(const warpgauge::Size& size)
      : blocks(static_cast<int>(size[0])),
        a(*this, blocks + kWindow - 1),
        sums(*this, blocks * kThreads) {}
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(sums, window_sums(a.host(), blocks));
  }
};

// No thread index in the address: all lanes of a warp, and all warps of a block, read one word.
// Const and restrict promise that no store writes to it, so the load may use the read-only path.
__global__ void uniform(int* sums, const int* __restrict__ a) {
  int sum = 0;
  for (int k = 0; k < kWindow; ++k) sum += a[blockIdx.x + k];
  sums[blockIdx.x * kThreads + threadIdx.x] = sum;
}

// Adding over the lanes crosswise (a butterfly) leaves the sum in all of them.
__global__ void shared_out(int* sums, const int* __restrict__ a) {
  int sum = a[blockIdx.x + threadIdx.x % kWindow];
  for (int step = kWindow / 2; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  sums[blockIdx.x * kThreads + threadIdx.x] = sum;
}

void launch(WindowSums& p, void (*kernel)(int*, const int*)) {
  kernel<<<p.blocks, kThreads>>>(p.sums, p.a);
}

WARPGAUGE_FAMILY(uniform_load) {
  const auto i32 = family.problem<WindowSums>("i32", {{1}, {1000}}).sizes_between({1}, {1000});
  i32.variant("uniform", [](WindowSums& p) { launch(p, uniform); });
  i32.variant("shared_out", [](WindowSums& p) { launch(p, shared_out); });
}

}  // namespace uniform_load
