// The product of a matrix and a vector and its check, for all that registers into this family.
#pragma once

#include <cmath>
#include <limits>

#include "warpgauge/warpgauge.h"

namespace matrix_vector {

/// Rows x columns. Rows of the second size are not whole sectors, and fill no block.
inline std::vector<warpgauge::Size> sizes() {
  return {{1024, 512}, {1003, 699}, warpgauge::large({16384, 16384})};
}

/// y = A x, where A lies in memory row by row. Elements of A and x lie in (-1, 1).
template <typename T>
struct Product : warpgauge::Problem {
  const int rows, columns;
  warpgauge::Input<T> a, x;
  warpgauge::Output<T> y;
  explicit Product(const warpgauge::Size& size)
      : rows(static_cast<int>(size[0])),
        columns(static_cast<int>(size[1])),
        a(*this, size.count(), 1),
        x(*this, columns, 2),
        y(*this, rows) {}
  double flops() const override { return 2.0 * rows * columns; }
  /// CPU reference in double. Each of the additions rounds a sum below `columns`, which is itself
  /// about the root of that: half an epsilon of `columns` a row is far beyond what a right sum
  /// loses.
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<double> expected(rows);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        expected[i] += double{a.host()[static_cast<std::size_t>(i) * columns + j]} * x.host()[j];
      }
    }
    comparison.close(y, expected, columns * std::numeric_limits<T>::epsilon() / 2);
  }
};

}  // namespace matrix_vector
