// Cases that need a GPU: an instruction of theirs is not emulated. Some say so, one does not.
#include "warpgauge/warpgauge.h"

namespace gpu_only {

struct Doubled : warpgauge::Problem {
  warpgauge::Input<unsigned> a;
  warpgauge::Output<unsigned> b;
  explicit Doubled(const warpgauge::Size& size) : a(*this, size.count()), b(*this, size.count()) {}
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<unsigned> expected = a.host();
    for (unsigned& one : expected) one *= 2;
    comparison.equal(b, expected);
  }
};

__global__ void add(unsigned* b, const unsigned* a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[i] + a[i];
}

// Adds two halves of 16 bits, in an instruction of video processing.
__global__ void add_halves(unsigned* b, const unsigned* a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned sum;
  asm("vadd2.u32.u32.u32 %0, %1, %1, %2;" : "=r"(sum) : "r"(a[i]), "r"(0));
  b[i] = sum;
}

// The same with more registers than the cap allows.
__global__ void __launch_bounds__(1024) add_spilling(unsigned* b, const unsigned* a) {
  unsigned values[64];
#pragma unroll
  for (int k = 0; k < 64; ++k) values[k] = a[(threadIdx.x + k) % 1024] * (k + 1);
  __syncthreads();
  unsigned sum = 0;
#pragma unroll
  for (int k = 0; k < 64; ++k) {
    asm volatile("vadd2.u32.u32.u32 %0, %0, %1, %2;" : "+r"(sum) : "r"(values[k]), "r"(k));
    sum += values[63 - k] * values[(k * 7) % 64];
  }
  b[threadIdx.x] = sum == 12345 ? sum : 2 * a[threadIdx.x];
}

WARPGAUGE_FAMILY(gpu_only) {
  const auto u32 = family.problem<Doubled>("u32", {{1024}});
  u32.variant("plain", [](Doubled& p) { add<<<4, 256>>>(p.b, p.a); });
  u32.variant("undeclared", [](Doubled& p) { add_halves<<<4, 256>>>(p.b, p.a); });
  const auto declared = u32.gpu_only("vadd2 is not emulated");
  declared.variant("declared", [](Doubled& p) { add_halves<<<4, 256>>>(p.b, p.a); });
  declared.variant("spilling", [](Doubled& p) { add_spilling<<<1, 1024>>>(p.b, p.a); });
  declared.uncounted("nothing_to_judge", [](Doubled& p) { add_halves<<<4, 256>>>(p.b, p.a); });
}

}  // namespace gpu_only
