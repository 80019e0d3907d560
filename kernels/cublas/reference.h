// CPU references of matrix equations: both sides applied to one vector, in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <vector>

#include "warpgauge/warpgauge.h"

namespace warpgauge {

using Complex = std::complex<double>;

/// Half a unit in the last place of T, a float or a double.
template <typename T>
constexpr double kRounding = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;

/// A matrix by columns, as cuBLAS counts, in double.
class Matrix {
 public:
  Matrix(int rows, int columns)
      : rows_(rows), columns_(columns), elements_(static_cast<std::size_t>(rows) * columns) {}
  template <typename T>
  Matrix(int rows, const std::vector<T>& elements)
      : Matrix(rows, static_cast<int>(elements.size()) / rows) {
    std::ranges::transform(elements, elements_.begin(), [](T value) { return Complex(value); });
  }
  int rows() const { return rows_; }
  int columns() const { return columns_; }
  Complex& at(int row, int column) { return elements_[index(row, column)]; }
  Complex at(int row, int column) const { return elements_[index(row, column)]; }

 private:
  std::size_t index(int row, int column) const {
    return static_cast<std::size_t>(column) * rows_ + row;
  }
  int rows_, columns_;
  std::vector<Complex> elements_;
};

/// The matrix that `of(row, column)` gives.
template <typename Of>
Matrix matrix(int rows, int columns, Of of) {
  Matrix made(rows, columns);
  for (int column = 0; column < columns; ++column) {
    for (int row = 0; row < rows; ++row) made.at(row, column) = of(row, column);
  }
  return made;
}

inline Matrix sum(const Matrix& a, const Matrix& b) {
  return matrix(a.rows(), a.columns(), [&](int i, int j) { return a.at(i, j) + b.at(i, j); });
}

inline Matrix conjugate_transpose(const Matrix& a) {
  return matrix(a.columns(), a.rows(), [&](int i, int j) { return std::conj(a.at(j, i)); });
}

/// A vector, and the sums of the squares of the terms that its elements are made of: the root is
/// their size where signs are random.
struct Applied {
  std::vector<Complex> values;
  std::vector<double> squares;
};

/// 1 and -1 in random order: where an element of a matrix is wrong, the sum of its row is.
inline Applied probe(int count) {
  Applied made{std::vector<Complex>(count), std::vector<double>(count, 1)};
  const std::vector<std::int32_t> random = random_values<std::int32_t>(count, 7);
  for (int i = 0; i < count; ++i) made.values[i] = random[i] % 2 == 0 ? 1 : -1;
  return made;
}

inline Applied times(const Matrix& matrix, const Applied& x) {
  Applied y{std::vector<Complex>(matrix.rows()), std::vector<double>(matrix.rows())};
  for (int column = 0; column < matrix.columns(); ++column) {
    for (int row = 0; row < matrix.rows(); ++row) {
      const Complex element = matrix.at(row, column);
      y.values[row] += element * x.values[column];
      y.squares[row] += std::norm(element) * x.squares[column];
    }
  }
  return y;
}

/// Roundings of a float or double T that a sum of `terms` products may add up to. Each is at most
/// kRounding of a part of the sum, which has the root of l / terms of its size after l terms; the
/// squares of them all add up to terms / 6. Allowed are about ten times the root of that.
template <typename T>
double tolerance(int terms) {
  return 4 * std::sqrt(terms) * kRounding<T>;
}

/// Holds got = expected within `tolerance` of the sizes of both.
inline void agree(Comparison& comparison, const Applied& got, const Applied& expected,
                  double tolerance) {
  std::vector<double> errors(expected.values.size(), std::nan(""));
  for (std::size_t i = 0; i < std::min(errors.size(), got.values.size()); ++i) {
    errors[i] = std::abs(got.values[i] - expected.values[i]) /
                std::sqrt(std::max(got.squares[i], expected.squares[i]));
  }
  comparison.close(errors, std::vector<double>(errors.size()), tolerance);
}

}  // namespace warpgauge
