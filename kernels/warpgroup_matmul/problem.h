// The product C = A * B of matrices of halves and its check, for all that registers into the family
// warpgroup_matmul.
#pragma once

#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>

#include "warpgauge/warpgauge.h"

namespace warpgroup_matmul {

/// Sizes {m, n, k}: A has m rows of k halves, B n columns of k, C m rows of n. The first uses each
/// stage of a pipeline two or three times; the second fits no tile. All n and k are multiples of 8:
/// rows of tensors are multiples of 16 bytes.
inline std::vector<warpgauge::Size> sizes() {
  return {{256, 512, 640},
          {200, 328, 136},
          warpgauge::large({4096, 4096, 4096}),
          warpgauge::large({8192, 8192, 8192})};
}

/// Elements are integers from -2 to 2. Sums of k products have a standard deviation of 2 sqrt(k),
/// 181 at most; halves have all integers up to 2048. So every order of adding gives the same
/// result.
struct Product : warpgauge::Problem {
  const int m, n, k;
  warpgauge::Input<std::uint16_t> a, b;
  warpgauge::Output<std::uint16_t> c;

  explicit Product(const warpgauge::Size& size)
      : m(static_cast<int>(size[0])),
        n(static_cast<int>(size[1])),
        k(static_cast<int>(size[2])),
        a(*this, halves(m * k, 1)),
        b(*this, halves(n * k, 2)),
        c(*this, static_cast<std::size_t>(m) * n) {}
  double flops() const override { return 2.0 * m * n * k; }

  /// CPU reference: all sums, or of large matrices C * x against A * (B * x), where x holds 1 and
  /// -1 in random order, so that what an element is wrong by, the sum of its row is wrong by.
  void check(warpgauge::Comparison& comparison) const override {
    constexpr double kMostFlops = 2e8;
    if (flops() > kMostFlops) return check_rows(comparison);
    std::vector<float> expected(c.count());
    const std::vector<float> of_a = values(a.host()), of_b = values(b.host());
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        for (int l = 0; l < k; ++l) expected[i * n + j] += of_a[i * k + l] * of_b[j * k + l];
      }
    }
    comparison.equal(values(c.host()), expected);
  }

 private:
  static std::vector<std::uint16_t> halves(int count, std::uint32_t seed) {
    std::vector<std::uint16_t> bits;
    bits.reserve(count);
    for (const int random : warpgauge::random_values<int>(count, seed)) {
      bits.push_back(__half_as_ushort(__int2half_rn(random % 5 - 2)));
    }
    return bits;
  }
  static std::vector<float> values(const std::vector<std::uint16_t>& halves) {
    std::vector<float> values;
    values.reserve(halves.size());
    for (const std::uint16_t bits : halves) values.push_back(__half2float(__ushort_as_half(bits)));
    return values;
  }
  void check_rows(warpgauge::Comparison& comparison) const {
    const std::vector<float> of_a = values(a.host()), of_b = values(b.host());
    const std::vector<float> of_c = values(c.host());
    std::vector<double> x, b_times_x(k), expected(m), got(m);
    for (const int random : warpgauge::random_values<int>(n, 3)) x.push_back(random % 2 * 2 - 1);
    for (std::size_t i = 0; i < of_b.size(); ++i) b_times_x[i % k] += of_b[i] * x[i / k];
    for (std::size_t i = 0; i < of_a.size(); ++i) expected[i / k] += of_a[i] * b_times_x[i % k];
    for (std::size_t i = 0; i < of_c.size(); ++i) got[i / n] += of_c[i] * x[i % n];
    comparison.equal(got, expected);
  }
};

}  // namespace warpgroup_matmul
