// Reading every s-th element of shared memory: the size of a case is the stride s, 1 to 33.
//
// Shared memory has 32 banks of 4 bytes; word w lies in bank w % 32. A request
// takes as many wavefronts as the fullest bank holds distinct words (shared.bank_ways); lanes that
// read the same word share it. So for 4-byte elements the ways are gcd(s, 32): odd strides are
// free. 8-byte elements are served half a warp at a time: at best 2 wavefronts, else gcd(s, 16)
// times as many. Smaller elements share words, which makes stride 1 free for them too, but there
// an odd stride may meet a bank twice: what counts is the distance in words.
// The cure: an odd distance in words, for instance by padding rows of even length with one word.
#include <cstdint>

#include "warpgauge/warpgauge.h"

namespace bank_stride {

constexpr int kWarp = 32;
constexpr int kMaxStride = 33;
constexpr int kThreads = 1024;  // also the elements in shared memory
static_assert(kMaxStride * (kWarp - 1) < kThreads);

// CPU reference: every warp reads the elements 0, stride, 2 * stride, ... of a.
template <typename T>
std::vector<T> strided(const std::vector<T>& a, int stride) {
  std::vector<T> b(a.size());
  for (int t = 0; t < kThreads; ++t) b[t] = a[stride * (t % kWarp)];
  return b;
}

template <typename T>
struct Strided : warpgauge::Problem {
  const int stride;
  warpgauge::Input<T> a;
  warpgauge::Output<T> b;

  explicit Strided(const warpgauge::Size& size)
      : stride(static_cast<int>(size[0])), a(*this, kThreads), b(*this, kThreads) {}
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(b, strided(a.host(), stride));
  }
};

// All accesses but one go along neighbouring elements, so all conflicts belong to that one. One
// block of 32 warps: 32 strided requests.
template <typename T>
__global__ void read(T* b, const T* a, int stride) {
  __shared__ T s[kThreads];
  const int t = threadIdx.x, lane = t % kWarp;
  s[t] = a[t];
  __syncthreads();
  b[t] = s[stride * lane];
}

template <typename T>
void launch_read(Strided<T>& p) {
  read<T><<<1, kThreads>>>(p.b, p.a, p.stride);
}

WARPGAUGE_FAMILY(bank_stride) {
  std::vector<warpgauge::Size> strides;
  for (int stride = 1; stride <= kMaxStride; ++stride) strides.push_back({stride});
  family.problem<Strided<std::int8_t>>("i8", strides)
      .sizes_between({1}, {kMaxStride})
      .variant("read", launch_read<std::int8_t>);
  family.problem<Strided<std::int16_t>>("i16", strides)
      .sizes_between({1}, {kMaxStride})
      .variant("read", launch_read<std::int16_t>);
  family.problem<Strided<float>>("f32", strides)
      .sizes_between({1}, {kMaxStride})
      .variant("read", launch_read<float>);
  family.problem<Strided<double>>("f64", strides)
      .sizes_between({1}, {kMaxStride})
      .variant("read", launch_read<double>);
}

}  // namespace bank_stride
