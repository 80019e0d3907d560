// Kernels whose code for sm_90 and for sm_90a differs, so that a gauge which takes one of the two
// for the other shows it.
#include "warpgauge/warpgauge.h"

namespace archs {

constexpr int kThreads = 1024, kValues = 64;

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900 && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
constexpr bool kIsSm90 = true;
#else
constexpr bool kIsSm90 = false;
#endif
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
constexpr bool kIsSm90a = true;
#else
constexpr bool kIsSm90a = false;
#endif

/// b is a, copied in different ways.
struct Copy : warpgauge::Problem {
  warpgauge::Input<float> a;
  warpgauge::Output<float> b;
  explicit Copy(const warpgauge::Size& size) : a(*this, size.count()), b(*this, size.count()) {}
  void check(warpgauge::Comparison& comparison) const override { comparison.equal(b, a.host()); }
};

__global__ void copy(float* b, const float* a) {
  for (int i = threadIdx.x; i < kValues * kThreads; i += kThreads) b[i] = a[i];
}

/// All values of a thread at once where `Spills` holds: more than the 32 registers that a thread
/// has.
template <bool Spills>
__device__ void copy_at_once(float* b, const float* a) {
  constexpr int kAtOnce = Spills ? kValues : 1;
  for (int first = 0; first < kValues; first += kAtOnce) {
    float values[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) values[i] = a[(first + i) * kThreads + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) b[(first + i) * kThreads + threadIdx.x] = values[i];
  }
}

__global__ void __launch_bounds__(kThreads, 2) spill_on_sm_90(float* b, const float* a) {
  copy_at_once<kIsSm90>(b, a);
}

/// Through shared memory, with two words between neighbouring lanes of sm_90a.
__global__ void conflict_on_sm_90a(float* b, const float* a) {
  constexpr int kStride = kIsSm90a ? 2 : 1;
  __shared__ float values[kStride * kThreads];
  for (int i = threadIdx.x; i < kValues * kThreads; i += kThreads) {
    values[kStride * threadIdx.x] = a[i];
    b[i] = values[kStride * threadIdx.x];
  }
}

WARPGAUGE_FAMILY(archs) {
  const auto f32 = family.problem<Copy>("f32", {{kValues * kThreads}});
  f32.variant("plain", [](Copy& p) { copy<<<1, kThreads>>>(p.b, p.a); });
  f32.variant("spill_on_sm_90", [](Copy& p) { spill_on_sm_90<<<1, kThreads>>>(p.b, p.a); });
  f32.variant("conflict_on_sm_90a", [](Copy& p) { conflict_on_sm_90a<<<1, kThreads>>>(p.b, p.a); });
}

}  // namespace archs
