// Calls of cuBLAS, NVIDIA's library of linear algebra: what own kernels are measured against.
//
// What it teaches: how a library of the field is called. It counts matrices by columns, takes
// strides (leading dimensions) with every matrix, and works on the stream of its handle. Nothing is
// counted here, for the kernels are not ours: results are checked and times measured.
#include <cmath>
#include <vector>

#include "kernels/cublas/handle.h"
#include "warpgauge/warpgauge.h"

namespace cublas_calls {

using warpgauge::cublas;
using warpgauge::InOut;
using warpgauge::Input;
using warpgauge::Output;
using warpgauge::Size;

/// Overloads by type for the functions that are used here.
struct Calls {
  static cublasStatus_t copy(int n, const float* x, float* y) {
    return cublasScopy(cublas(), n, x, 1, y, 1);
  }
  static cublasStatus_t copy(int n, const double* x, double* y) {
    return cublasDcopy(cublas(), n, x, 1, y, 1);
  }
  static cublasStatus_t scale(int n, const float* factor, float* x) {
    return cublasSscal(cublas(), n, factor, x, 1);
  }
  static cublasStatus_t scale(int n, const double* factor, double* x) {
    return cublasDscal(cublas(), n, factor, x, 1);
  }
  static cublasStatus_t dot(int n, const float* x, const float* y, float* result) {
    return cublasSdot(cublas(), n, x, 1, y, 1, result);
  }
  static cublasStatus_t dot(int n, const double* x, const double* y, double* result) {
    return cublasDdot(cublas(), n, x, 1, y, 1, result);
  }
  static cublasStatus_t norm(int n, const float* x, float* result) {
    return cublasSnrm2(cublas(), n, x, 1, result);
  }
  static cublasStatus_t norm(int n, const double* x, double* result) {
    return cublasDnrm2(cublas(), n, x, 1, result);
  }
};

/// Half a unit in the last place of T.
template <typename T>
constexpr double kRounding = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;

template <typename T>
struct VectorCopy : warpgauge::Problem {
  const int n;
  Input<T> x;
  Output<T> y;
  explicit VectorCopy(const Size& size)
      : n(static_cast<int>(size.count())), x(*this, n), y(*this, n) {}
  void check(warpgauge::Comparison& comparison) const override { comparison.equal(y, x.host()); }
};

template <typename T>
struct Scale : warpgauge::Problem {
  const int n;
  InOut<T> x;
  Input<T> factor;
  explicit Scale(const Size& size)
      : n(static_cast<int>(size.count())), x(*this, n), factor(*this, std::vector<T>{T(-0.5)}) {}
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<T> expected = x.initial();
    for (T& value : expected) value *= T(-0.5);
    comparison.equal(x, expected);
  }
};

/// x . y, or |x| where y is x. A sum of n products in any order is off by at most n roundings of
/// the sum of their magnitudes, which is at most n (the elements lie in (-1, 1)).
template <typename T>
struct Product : warpgauge::Problem {
  const int n;
  Input<T> x, y;
  Output<T> result;
  explicit Product(const Size& size)
      : n(static_cast<int>(size.count())), x(*this, n), y(*this, n, 2), result(*this, 1) {}
  double flops() const override { return 2.0 * n; }
  void check(warpgauge::Comparison& comparison) const override {
    compare(comparison, y.host(), [](double sum) { return sum; });
  }
  template <typename Finish>
  void compare(warpgauge::Comparison& comparison, const std::vector<T>& other,
               Finish finish) const {
    double sum = 0, lost = 0, magnitude = 0;  // Kahan's sum: the reference must be the better one
    for (int i = 0; i < n; ++i) {
      const double product = double{x.host()[i]} * other[i] - lost;
      const double next = sum + product;
      lost = (next - sum) - product;
      sum = next;
      magnitude += std::fabs(product);
    }
    // Trees, as libraries use them, come nowhere near n roundings: their depth is what counts.
    const double depth = 64 + std::log2(n);
    const double tolerance = depth * kRounding<T> * magnitude / std::fmax(1.0, std::fabs(sum));
    comparison.close(result, std::vector<double>{finish(sum)}, tolerance);
  }
};

/// The library's product that names its types at run time. Of float vectors it makes a float, and
/// computes in float: other results are refused (CUBLAS_STATUS_NOT_SUPPORTED, cuBLAS 13.0).
void dot_ex(Product<float>& p) {
  WARPGAUGE_CUBLAS(cublasDotEx(cublas(), p.n, p.x, CUDA_R_32F, 1, p.y, CUDA_R_32F, 1, p.result,
                               CUDA_R_32F, CUDA_R_32F));
}

template <typename T>
struct Norm : Product<T> {
  using Product<T>::Product;
  double bytes() const override { return static_cast<double>(sizeof(T)) * this->n; }
  void check(warpgauge::Comparison& comparison) const override {
    this->compare(comparison, this->x.host(), [](double sum) { return std::sqrt(sum); });
  }
};

/// y = A x; A has `rows` rows of `columns` elements.
template <typename T>
struct MatrixVector : warpgauge::Problem {
  const int rows, columns;
  Input<T> a, x, one, zero;
  Output<T> y;
  explicit MatrixVector(const Size& size)
      : rows(static_cast<int>(size[0])),
        columns(static_cast<int>(size[1])),
        a(*this, size.count()),
        x(*this, columns, 2),
        one(*this, std::vector<T>{1}),
        zero(*this, std::vector<T>{0}),
        y(*this, rows) {}
  double flops() const override { return 2.0 * rows * columns; }
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<double> expected(rows);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        expected[i] += double{a.host()[i * columns + j]} * x.host()[j];
      }
    }
    comparison.close(y, expected, columns * kRounding<T>);
  }
};

void gemv(MatrixVector<float>& p) {  // our rows are its columns: the transpose is wanted
  WARPGAUGE_CUBLAS(cublasSgemv(cublas(), CUBLAS_OP_T, p.columns, p.rows, p.one, p.a, p.columns, p.x,
                               1, p.zero, p.y, 1));
}
void gemv(MatrixVector<double>& p) {
  WARPGAUGE_CUBLAS(cublasDgemv(cublas(), CUBLAS_OP_T, p.columns, p.rows, p.one, p.a, p.columns, p.x,
                               1, p.zero, p.y, 1));
}

/// Solves L x = b in place; L is lower triangular with a strong diagonal, so that errors stay
/// small.
struct Triangular : warpgauge::Problem {
  const int n;
  Input<double> l;  // by columns
  InOut<double> x;
  explicit Triangular(const Size& size)
      : n(static_cast<int>(size[0])), l(*this, matrix(n)), x(*this, n) {}

  static std::vector<double> matrix(int n) {
    std::vector<double> l = warpgauge::random_values<double>(n * n, 3);
    for (int column = 0; column < n; ++column) {
      for (int row = 0; row < column; ++row) l[column * n + row] = 0;
      l[column * n + column] = n;
    }
    return l;
  }
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<double> expected = x.initial();
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < i; ++j) expected[i] -= l.host()[j * n + i] * expected[j];
      expected[i] /= l.host()[i * n + i];
    }
    comparison.close(x, expected, n * kRounding<double>);
  }
};

void trsv(Triangular& p) {
  WARPGAUGE_CUBLAS(cublasDtrsv(cublas(), CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT,
                               p.n, p.l, p.n, p.x, 1));
}

/// LU factors of many small matrices, each with its pivots. The size: matrices x their edge.
struct ManyFactors : warpgauge::Problem {
  const int count, n;
  InOut<float> a;  // each by columns
  Output<int> pivots, info;
  Output<float*> matrices;
  explicit ManyFactors(const Size& size)
      : count(static_cast<int>(size[0])),
        n(static_cast<int>(size[1])),
        a(*this, static_cast<std::size_t>(count) * n * n),
        pivots(*this, static_cast<std::size_t>(count) * n),
        info(*this, count),
        matrices(*this, count) {}
  void prepare() override {
    std::vector<float*> addresses(count);
    float* const first = a;
    for (int k = 0; k < count; ++k) addresses[k] = first + static_cast<std::ptrdiff_t>(k) * n * n;
    float** const to = matrices;
    WARPGAUGE_CUDA(
        cudaMemcpy(to, addresses.data(), count * sizeof(float*), cudaMemcpyHostToDevice));
  }
  double flops() const override { return 2.0 / 3 * count * n * n * n; }

  // Row exchanges and factors, multiplied again, must give the matrix that we began with.
  void check(warpgauge::Comparison& comparison) const override {
    const std::vector<float> lu = a.host();
    const std::vector<int> exchanged = pivots.host();
    std::vector<double> products;
    for (int k = 0; k < count; ++k) {
      const float* const m = &lu[static_cast<std::size_t>(k) * n * n];
      std::vector<double> product(n * n);
      for (int row = 0; row < n; ++row) {
        for (int column = 0; column < n; ++column) {
          double sum = 0;
          for (int i = 0; i <= row && i <= column; ++i) {
            sum += (i == row ? 1.0 : double{m[i * n + row]}) * m[column * n + i];
          }
          product[column * n + row] = sum;
        }
      }
      for (int row = n - 1; row >= 0; --row) {  // undo the exchanges, the last one first
        const int other = exchanged[k * n + row] - 1;
        for (int column = 0; column < n; ++column) {
          std::swap(product[column * n + row], product[column * n + other]);
        }
      }
      products.insert(products.end(), product.begin(), product.end());
    }
    comparison.equal(info, std::vector<int>(count, 0));
    // Partial pivoting: n roundings of elements that grow to a few units at most.
    comparison.close(products, a.initial(), 8 * n * kRounding<float>);
  }
};

void getrf_batched(ManyFactors& p) {
  WARPGAUGE_CUBLAS(cublasSgetrfBatched(cublas(), p.n, p.matrices, p.n, p.pivots, p.info, p.count));
}

template <typename T>
void add_vectors(const warpgauge::Family& family, const char* type) {
  const std::vector<Size> sizes = {{1000003}, warpgauge::large({1 << 26})};
  family.problem<VectorCopy<T>>(type, sizes).uncounted("copy", [](VectorCopy<T>& p) {
    WARPGAUGE_CUBLAS(Calls::copy(p.n, p.x, p.y));
  });
  family.problem<Scale<T>>(type, sizes).uncounted("scal", [](Scale<T>& p) {
    WARPGAUGE_CUBLAS(Calls::scale(p.n, p.factor, p.x));
  });
  family.problem<Product<T>>(type, sizes).uncounted("dot", [](Product<T>& p) {
    WARPGAUGE_CUBLAS(Calls::dot(p.n, p.x, p.y, p.result));
  });
  family.problem<Norm<T>>(type, sizes).uncounted("nrm2", [](Norm<T>& p) {
    WARPGAUGE_CUBLAS(Calls::norm(p.n, p.x, p.result));
  });
  family.problem<MatrixVector<T>>(type, {{1000, 700}, warpgauge::large({16384, 16384})})
      .uncounted("gemv", [](MatrixVector<T>& p) { gemv(p); });
}

WARPGAUGE_FAMILY(cublas) {
  add_vectors<float>(family, "f32");
  add_vectors<double>(family, "f64");
  family.problem<Product<float>>("f32", {{1000003}}).uncounted("dot_ex", dot_ex);
  family.problem<Triangular>("f64", {{6}, {100}}).uncounted("trsv", trsv);
  family.problem<ManyFactors>("f32", {{1000, 8}, {100, 32}})
      .uncounted("getrf_batched", getrf_batched);
}

}  // namespace cublas_calls
