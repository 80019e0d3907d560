// A Euclidean norm and its check, for all that registers into the family norm.
#pragma once

#include <cmath>
#include <limits>

#include "warpgauge/warpgauge.h"

namespace norms {  // CUDA has a function norm()

constexpr int kThreads = 256;
constexpr int kMaxBlocks = 4096;  // several times what any GPU can hold at once
constexpr int kRanges = 3;        // of magnitudes: ordinary, large, tiny

/// The last one is more than any cache holds.
template <typename T>
std::vector<warpgauge::Size> sizes() {
  return {{1048576}, {1000003}, {100}, warpgauge::large({(1 << 30) / sizeof(T)})};
}

// CPU reference: the norm of x / unit. What an addition loses is added later (Kahan), or it would
// be less exact than the kernels' many short sums.
template <typename T>
double norm_in_units(const std::vector<T>& x, double unit) {
  double sum = 0, lost = 0;
  for (const T value : x) {
    const double ordinary = static_cast<double>(value) / unit;
    const double term = ordinary * ordinary + lost;
    const double next = sum + term;
    lost = term - (next - sum);
    sum = next;
  }
  return std::sqrt(sum);
}

// The size is the length; kExponent moves all elements by a power of two.
template <typename T, int kExponent>
struct Norm : warpgauge::Problem {
  const int n, blocks;
  warpgauge::Input<T> x;
  warpgauge::Output<T> of_blocks;            // up to three sums of each block
  warpgauge::Output<double> wide_of_blocks;  // those of `wide`
  warpgauge::Output<T> maximum, result;

  explicit Norm(const warpgauge::Size& size)
      : n(static_cast<int>(size.count())),
        blocks(n > kMaxBlocks * kThreads ? kMaxBlocks : (n + kThreads - 1) / kThreads),
        x(kExponent == 0 ? warpgauge::Input<T>(*this, n) : warpgauge::Input<T>(*this, scaled(n))),
        of_blocks(*this, kRanges * kMaxBlocks),
        wide_of_blocks(*this, blocks),
        maximum(*this, 1),
        result(*this, 1) {}

  /// About 1 before they were scaled.
  static double unit() { return std::ldexp(1.0, kExponent); }
  static std::vector<T> scaled(int n) {
    std::vector<T> values = warpgauge::random_values<T>(n, 1);
    for (T& value : values) value *= static_cast<T>(unit());
    return values;
  }
  // All terms are positive: the sum is as exact as its longest chain, 290 roundings (2^28
  // elements: 256 in a thread, 8 in a block, 16 + 8 over the blocks; the square) of half an
  // epsilon. The root halves that: 73 epsilons, and some for quotients and the root itself.
  void check(warpgauge::Comparison& comparison) const override {
    constexpr double kTolerance = 80 * static_cast<double>(std::numeric_limits<T>::epsilon());
    const double expected = norm_in_units(x.host(), unit());
    const double got = static_cast<double>(result.host()[0]) / unit();
    comparison.close(std::vector<double>{got}, std::vector<double>{expected}, kTolerance);
  }
  double bytes() const override { return (n + 1.0) * sizeof(T); }
  double flops() const override { return 2.0 * n; }
};

}  // namespace norms
