// Loads through a pointer that leads to shared or global memory, by a condition at run time.
//
// A pointer in CUDA is generic. Where the compiler cannot see which memory it leads to, the
// hardware looks at each lane's address: lanes in shared memory cost wavefronts, lanes in global
// memory sectors, and a warp with both pays for both.
//   all_global  every lane reads from global memory
//   all_shared  every lane reads the block's copy in shared memory
//   by_warp     every second warp reads from shared memory: each warp pays for one of the two
//   by_lane     every second lane does: each warp pays for both, half used
// The copies are negated, so that the result shows where a value came from.
#include <cstdint>

#include "warpgauge/warpgauge.h"

namespace generic_pointer {

constexpr int kThreads = 256, kWarp = 32;

// A thread reads from shared memory if 256 plus its number has a bit of `mask`: with 256 each one,
// as that bit is always set; with 32 those of every second warp; with 1 every second lane.
struct Read : warpgauge::Problem {
  const int n;
  warpgauge::Input<std::int32_t> a;
  warpgauge::Output<std::int32_t> out;
  int mask = 0;  // of the variant that was launched

  explicit Read(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])), a(*this, n), out(*this, n) {}
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<std::int32_t> expected = a.host();
    for (int i = 0; i < n; ++i) {
      if (((kThreads + i % kThreads) & mask) != 0) expected[i] = -expected[i];
    }
    comparison.equal(out, expected);
  }
};

__global__ void read(std::int32_t* out, const std::int32_t* a, int n, int mask) {
  __shared__ std::int32_t copy[kThreads];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  if (i < n) copy[t] = -a[i];
  __syncthreads();
  if (i >= n) return;
  const std::int32_t* const from = ((kThreads + t) & mask) != 0 ? copy + t : a + i;
  out[i] = *from;
}

WARPGAUGE_FAMILY(generic_pointer) {
  const auto i32 = family.problem<Read>("i32", {{65536}, {1000}}).sizes_between({1}, {65536});
  const auto add = [&](const char* name, int mask) {
    i32.variant(name, [mask](Read& p) {
      p.mask = mask;
      read<<<(p.n + kThreads - 1) / kThreads, kThreads>>>(p.out, p.a, p.n, mask);
    });
  };
  add("all_global", 0);
  add("all_shared", kThreads);
  add("by_warp", kWarp);
  add("by_lane", 1);
}

}  // namespace generic_pointer
