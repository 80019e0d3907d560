// Cases that need a GPU: an instruction of theirs is not emulated. Some say so, one does not.
#include "warpgauge/warpgauge.h"

namespace gpu_only {

struct Doubled : warpgauge::Problem {
  warpgauge::Input<unsigned> a;
  warpgauge::Output<unsigned> b;
  explicit Doubled(const warpgauge::Size& size) : a(*this, size.count()), b(*this, size.count()) {}
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<unsigned> expected = a.host();
    for (unsigned& value : expected) value *= 2;
    comparison.equal(b, expected);
  }
};

__global__ void add(unsigned* b, const unsigned* a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[i] + a[i];
}

// Changes nothing, in an instruction for stacks that grow while a kernel runs.
__device__ void keep_stack() {
  asm volatile("{ .reg .u64 stack; stacksave.u64 stack; stackrestore.u64 stack; }");
}

__global__ void add_on_a_stack(unsigned* b, const unsigned* a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  keep_stack();
  b[i] = a[i] + a[i];
}

// An addition with more registers than the cap allows.
__global__ void __launch_bounds__(1024) add_spilling(unsigned* b, const unsigned* a) {
  unsigned values[64];
#pragma unroll
  for (int k = 0; k < 64; ++k) values[k] = a[(threadIdx.x + k) % 1024] * (k + 1);
  __syncthreads();
  unsigned sum = 0;
#pragma unroll
  for (int k = 0; k < 64; ++k) {
    keep_stack();
    sum += values[63 - k] * values[(k * 7) % 64];
  }
  b[threadIdx.x] = sum == 12345 ? sum : 2 * a[threadIdx.x];
}

WARPGAUGE_FAMILY(gpu_only) {
  const auto u32 = family.problem<Doubled>("u32", {{1024}});
  u32.variant("plain", [](Doubled& p) { add<<<4, 256>>>(p.b, p.a); });
  u32.variant("undeclared", [](Doubled& p) { add_on_a_stack<<<4, 256>>>(p.b, p.a); });
  const auto declared = u32.gpu_only("stacksave is not emulated");
  declared.variant("declared", [](Doubled& p) { add_on_a_stack<<<4, 256>>>(p.b, p.a); });
  declared.variant("spilling", [](Doubled& p) { add_spilling<<<1, 1024>>>(p.b, p.a); });
  declared.uncounted("nothing_to_judge", [](Doubled& p) { add_on_a_stack<<<4, 256>>>(p.b, p.a); });
}

}  // namespace gpu_only
