// y = a x + y in half precision, of 16 bits, and in single precision.
//
// Half the bytes are half the sectors. They are half the requests, too, only if a lane takes two
// elements at once, for which the hardware has arithmetic on pairs (half2).
//   fused  an element a lane: of f16 it is as many requests as of f32, each of half the sectors
//   pairs  two elements of f16 a lane: half the requests, each as full as one of f32
// Results are rounded once: all are equal to the reference, which rounds the exact value.
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>

#include "warpgauge/warpgauge.h"

namespace half_precision {

constexpr int kThreads = 256;
constexpr float kFactor = 0.75f;

struct Single : warpgauge::Problem {
  const int n;
  warpgauge::Input<float> x;
  warpgauge::InOut<float> y;

  explicit Single(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])), x(*this, n, 1), y(*this, n, 2) {}
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<float> expected(n);
    for (int i = 0; i < n; ++i) expected[i] = std::fma(kFactor, x.host()[i], y.initial()[i]);
    comparison.equal(y, expected);
  }
};

// Random values in half precision, by their bits.
std::vector<std::uint16_t> halves(int n, std::uint32_t seed) {
  const std::vector<float> values = warpgauge::random_values<float>(n, seed);
  std::vector<std::uint16_t> bits(n);
  for (int i = 0; i < n; ++i) bits[i] = __half_as_ushort(__float2half_rn(values[i]));
  return bits;
}

double value_of(std::uint16_t bits) { return __half2float(__ushort_as_half(bits)); }

// The number of elements is even.
struct Half : warpgauge::Problem {
  const int n;
  warpgauge::Input<std::uint16_t> x;
  warpgauge::InOut<std::uint16_t> y;

  explicit Half(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])), x(*this, halves(n, 1)), y(*this, halves(n, 2)) {}
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<std::uint16_t> expected(n);
    for (int i = 0; i < n; ++i) {  // a product has 22 bits: with the sum it is exact in double
      const double exact = kFactor * value_of(x.host()[i]) + value_of(y.initial()[i]);
      expected[i] = __half_as_ushort(__double2half(exact));
    }
    comparison.equal(y, expected);
  }
  // x and y as the kernels' type.
  const __half* x_on_gpu() const {
    return reinterpret_cast<const __half*>(static_cast<const std::uint16_t*>(x));
  }
  __half* y_on_gpu() { return reinterpret_cast<__half*>(static_cast<std::uint16_t*>(y)); }
};

__global__ void fused_single(float* y, const float* x, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) y[i] = fmaf(kFactor, x[i], y[i]);
}

__global__ void fused_half(__half* y, const __half* x, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) y[i] = __hfma(__float2half(kFactor), x[i], y[i]);
}

__global__ void pairs_of_halves(__half2* y, const __half2* x, int pairs) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < pairs) y[i] = __hfma2(__float2half2_rn(kFactor), x[i], y[i]);
}

int blocks(int threads) { return (threads + kThreads - 1) / kThreads; }

WARPGAUGE_FAMILY(half_precision) {
  const std::vector<warpgauge::Size> sizes = {{65536}, {1002}, warpgauge::large({16777216})};
  family.problem<Single>("f32", sizes)
      .sizes_between({1}, {16777216})
      .variant("fused", [](Single& p) { fused_single<<<blocks(p.n), kThreads>>>(p.y, p.x, p.n); });
  const auto f16 =
      family.problem<Half>("f16", sizes).sizes_between({2}, {16777216}, {2}).relative_to("fused");
  f16.variant("fused", [](Half& p) {
    fused_half<<<blocks(p.n), kThreads>>>(p.y_on_gpu(), p.x_on_gpu(), p.n);
  });
  f16.variant("pairs", [](Half& p) {
    pairs_of_halves<<<blocks(p.n / 2), kThreads>>>(reinterpret_cast<__half2*>(p.y_on_gpu()),
                                                   reinterpret_cast<const __half2*>(p.x_on_gpu()),
                                                   p.n / 2);
  });
}

}  // namespace half_precision
