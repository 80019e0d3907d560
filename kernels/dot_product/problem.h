// A dot product and its check, for all that registers into the family dot_product.
#pragma once

#include <limits>

#include "warpgauge/warpgauge.h"

namespace dot_product {

constexpr int kThreads = 256;
constexpr int kMaxBlocks = 4096;  // several times what any GPU can hold at once

/// Whole blocks; a last block of 163 elements; less than one block; more than any cache.
template <typename T>
std::vector<warpgauge::Size> sizes() {
  return {{1048576}, {100003}, {100}, warpgauge::large({(1 << 30) / sizeof(T)})};
}

/// CPU reference: the product, and the sum of the magnitudes it is made of.
struct Reference {
  double product = 0, magnitude = 0;
};
template <typename T>
Reference reference(const std::vector<T>& x, const std::vector<T>& y) {
  Reference sums;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double product = static_cast<double>(x[i]) * static_cast<double>(y[i]);
    sums.product += product;
    sums.magnitude += product < 0 ? -product : product;
  }
  return sums;
}

template <typename T>
struct Dot : warpgauge::Problem {
  const int n;
  warpgauge::Input<T> x, y;
  warpgauge::Output<T> of_threads;  // what `global` hands over
  warpgauge::Output<T> of_blocks, result;

  explicit Dot(const warpgauge::Size& size) : Dot(size, std::size_t(size.count()), 2) {}
  /// With another y: as Input takes it.
  template <typename... Contents>
  Dot(const warpgauge::Size& size, const Contents&... of_y)
      : n(static_cast<int>(size.count())),
        x(*this, n, 1),
        y(*this, of_y...),
        of_threads(*this, blocks(kThreads) * kThreads),
        of_blocks(*this, blocks(kThreads)),
        result(*this, 1) {}

  /// Blocks that take so many elements at a time; they go round if there are more.
  int blocks(int elements) const {
    return n > kMaxBlocks * elements ? kMaxBlocks : (n + elements - 1) / elements;
  }
  // An element takes part in up to 540 roundings (2^28 elements: 256 in a thread, 256 in `serial`,
  // 16 + 8 over the blocks). They go up and down, so the errors grow like the root of their number;
  // four times that, in units of half an epsilon of the magnitudes, is 4 x 23 / 2.
  void check(warpgauge::Comparison& comparison) const override {
    constexpr double kTolerance = 46 * static_cast<double>(std::numeric_limits<T>::epsilon());
    const Reference expected = reference(x.host(), y.host());
    const double got = static_cast<double>(result.host()[0]);
    comparison.close(std::vector<double>{got / expected.magnitude},
                     std::vector<double>{expected.product / expected.magnitude}, kTolerance);
  }
  double bytes() const override { return (2.0 * n + 1) * sizeof(T); }
  double flops() const override { return 2.0 * n; }
};

}  // namespace dot_product
