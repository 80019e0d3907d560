// The matrix product C = A * B and its check, for all that registers into the family matmul.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "warpgauge/warpgauge.h"

namespace matmul {

/// Sizes {m, n, k}: A has m rows of k elements, B k rows of n, C m rows of n. The second fits no
/// tile. All n and k are multiples of 4: rows can be read and written 16 bytes at a time.
inline std::vector<warpgauge::Size> sizes() {
  return {{128, 256, 64},
          {99, 168, 68},
          warpgauge::large({1024, 1024, 1024}),
          warpgauge::large({4096, 4096, 4096})};
}

/// CPU reference: the product, with sums of type Sum.
template <typename Sum, typename T>
void multiply_into(std::vector<Sum>& c, const std::vector<T>& a, const std::vector<T>& b, int m,
                   int n, int k) {
  c.assign(static_cast<std::size_t>(m) * n, 0);
  for (int i = 0; i < m; ++i) {
    for (int l = 0; l < k; ++l) {
      const Sum factor = a[i * k + l];
      for (int j = 0; j < n; ++j) c[i * n + j] += factor * b[l * n + j];
    }
  }
}

/// A matrix of rows of x.size() elements times the vector x.
template <typename T>
std::vector<double> times(const std::vector<T>& matrix, const std::vector<double>& x) {
  std::vector<double> y(matrix.size() / x.size());
  for (std::size_t i = 0; i < matrix.size(); ++i) y[i / x.size()] += matrix[i] * x[i % x.size()];
  return y;
}

/// C = A * B. Elements of A and B lie in (-1, 1).
template <typename T>
struct Product : warpgauge::Problem {
  const int m, n, k;
  warpgauge::Input<T> a, b;
  warpgauge::Output<T> c;

  explicit Product(const warpgauge::Size& size)
      : m(static_cast<int>(size[0])),
        n(static_cast<int>(size[1])),
        k(static_cast<int>(size[2])),
        a(*this, size[0] * size[2], 1),
        b(*this, size[2] * size[1], 2),
        c(*this, size[0] * size[1]) {}

  /// Blocks of edge x edge elements that cover C.
  dim3 blocks(int edge) const { return dim3((n + edge - 1) / edge, (m + edge - 1) / edge); }
  double flops() const override { return 2.0 * m * n * k; }
  /// The variant's result.
  virtual std::vector<T> result() const { return c.host(); }

  void check(warpgauge::Comparison& comparison) const override {
    // Each of k additions rounds a sum below k, by at most kUnit of it.
    const double tolerance = kUnit * k * k;
    if (flops() > kMostFlops || tolerance > kMostTolerance) return check_rows(comparison);
    std::vector<double> expected;
    multiply_into(expected, a.host(), b.host(), m, n, k);
    comparison.close(result(), expected, tolerance);
  }
  bool solve_sequentially() override {
    if (flops() > kMostSequentialFlops) return false;
    multiply_into(solution_, a.host(), b.host(), m, n, k);
    return true;
  }

 private:
  static constexpr double kMostFlops = 1e8;                               // of a full reference
  static constexpr double kMostTolerance = 0x1p-6;                        // that says something
  static constexpr double kMostSequentialFlops = 1e10;                    // some seconds
  static constexpr double kUnit = std::numeric_limits<T>::epsilon() / 2;  // of rounding

  /// Freivalds' check: C * x against A * (B * x), in double. x holds 1 and -1 in random order, so
  /// what an element of C is wrong by, the sum of its row is wrong by.
  /// Tolerance: products of two elements have variance 1/9, so the sum of l of them has l/9.
  /// Rounding it makes an error of at most kUnit of it, which squared is kUnit^2/3 * l/9 on
  /// average; over k additions and the n elements of a row that is n * k^2 * kUnit^2 / 54. The
  /// check itself rounds three more sums of this kind, which matters for doubles: at most four
  /// times as much. Allowed are 7 standard deviations of that (or 14, for floats).
  void check_rows(warpgauge::Comparison& comparison) const {
    std::vector<double> x;
    for (const std::int32_t value : warpgauge::random_values<std::int32_t>(n, 3)) {
      x.push_back(value % 2 == 0 ? 1 : -1);
    }
    const std::vector<double> expected = times(a.host(), times(b.host(), x));
    std::vector<double> errors = times(result(), x);
    for (int i = 0; i < m; ++i) errors[i] -= expected[i];
    comparison.close(errors, std::vector<double>(m), 2 * kUnit * k * std::sqrt(n));
  }

  std::vector<T> solution_;  // of the CPU
};

}  // namespace matmul
