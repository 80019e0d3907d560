// Calls of cuBLAS, NVIDIA's library of linear algebra: vectors, and how the library is called.
//
// cuBLAS stores matrices by columns, takes a stride (leading dimension) with every matrix, works on
// the stream of its handle, and returns a status. Its kernels are not of this build and not
// counted: results are checked and times measured. Products, solves and factors are in the files
// beside this one; where this repository has kernels for the same problem (dot_product, norm,
// matrix_vector, matmul) the library is a variant of that family.
#include <cuda_fp16.h>

#include <cmath>
#include <vector>

#include "kernels/cublas/handle.h"
#include "kernels/cublas/reference.h"
#include "warpgauge/warpgauge.h"

namespace cublas_calls {

using warpgauge::cublas;
using warpgauge::InOut;
using warpgauge::Input;
using warpgauge::kRounding;
using warpgauge::Output;
using warpgauge::Size;

/// Overloads by type for the functions that are used here.
struct Calls {
  static void copy(int n, const float* x, float* y) {
    WARPGAUGE_CUBLAS(cublasScopy, cublas(), n, x, 1, y, 1);
  }
  static void copy(int n, const double* x, double* y) {
    WARPGAUGE_CUBLAS(cublasDcopy, cublas(), n, x, 1, y, 1);
  }
  static void scale(int n, const float* factor, float* x) {
    WARPGAUGE_CUBLAS(cublasSscal, cublas(), n, factor, x, 1);
  }
  static void scale(int n, const double* factor, double* x) {
    WARPGAUGE_CUBLAS(cublasDscal, cublas(), n, factor, x, 1);
  }
  static void dot(int n, const float* x, const float* y, float* result) {
    WARPGAUGE_CUBLAS(cublasSdot, cublas(), n, x, 1, y, 1, result);
  }
  static void dot(int n, const double* x, const double* y, double* result) {
    WARPGAUGE_CUBLAS(cublasDdot, cublas(), n, x, 1, y, 1, result);
  }
};

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
std::vector<T> scaled(std::vector<T> values, T factor) {
  for (T& value : values) value *= factor;
  return values;
}

template <typename T>
struct Scale : warpgauge::Problem {
  const int n;
  InOut<T> x;
  Input<T> factor;
  explicit Scale(const Size& size)
      : n(static_cast<int>(size.count())), x(*this, n), factor(*this, std::vector<T>{T(-0.5)}) {}
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(x, scaled(x.initial(), T(-0.5)));
  }
};

/// A sum of products, and the sum of their magnitudes.
struct Products {
  double sum = 0, magnitude = 0;
};
template <typename T>
Products products_of(const std::vector<T>& x, const std::vector<T>& y) {
  Products made;
  double lost = 0;  // Kahan's sum: the reference must be the better one
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double product = double{x[i]} * double{y[i]} - lost;
    const double next = made.sum + product;
    lost = (next - made.sum) - product;
    made.sum = next;
    made.magnitude += std::fabs(product);
  }
  return made;
}

/// Roundings that a sum of n products takes part in: trees, as libraries use them, come nowhere
/// near n of them. Their depth is what counts.
double depth(int n) { return 64 + std::log2(n); }

/// y = x, y scaled, y . x: three calls on one stream, which wait for each other without the host.
template <typename T>
struct Chain : warpgauge::Problem {
  const int n;
  Input<T> x, factor;
  Output<T> y, result;
  explicit Chain(const Size& size)
      : n(static_cast<int>(size.count())),
        x(*this, n),
        factor(*this, std::vector<T>{T(-0.5)}),
        y(*this, n),
        result(*this, 1) {}
  double flops() const override { return 3.0 * n; }
  void check(warpgauge::Comparison& comparison) const override {
    const std::vector<T> expected = scaled(x.host(), T(-0.5));
    comparison.equal(y, expected);
    // All products have one sign: the sum is as large as its magnitudes.
    comparison.close(result, std::vector<double>{products_of(x.host(), expected).sum},
                     depth(n) * kRounding<T>);
  }
};

template <typename T>
void copy_scale_dot(Chain<T>& p) {
  Calls::copy(p.n, p.x, p.y);
  Calls::scale(p.n, p.factor, p.y);
  Calls::dot(p.n, p.y, p.x, p.result);
}

/// Half a unit in the last place of the 11 bits of a half.
constexpr double kHalfRounding = 0x1p-11;

/// Vectors and result in half precision, added up as floats: a pair of types that the library has.
struct HalfProduct : warpgauge::Problem {
  const int n;
  Input<float> rounded_x, rounded_y;  // values that a half holds exactly
  Output<__half> x, y, result;
  explicit HalfProduct(const Size& size)
      : n(static_cast<int>(size.count())),
        rounded_x(*this, halves(n, 1)),
        rounded_y(*this, halves(n, 2)),
        x(*this, n),
        y(*this, n),
        result(*this, 1) {}
  static std::vector<float> halves(int n, std::uint32_t seed) {
    std::vector<float> values = warpgauge::random_values<float>(n, seed);
    for (float& value : values) value = __half2float(__float2half(value));
    return values;
  }
  static void upload(__half* to, const std::vector<float>& from) {
    const std::vector<__half> values(from.begin(), from.end());
    WARPGAUGE_CUDA(
        cudaMemcpy(to, values.data(), values.size() * sizeof(__half), cudaMemcpyHostToDevice));
  }
  void prepare() override {
    upload(x, rounded_x.host());
    upload(y, rounded_y.host());
  }
  double bytes() const override { return (2.0 * n + 1) * sizeof(__half); }
  double flops() const override { return 2.0 * n; }
  void check(warpgauge::Comparison& comparison) const override {
    const Products expected = products_of(rounded_x.host(), rounded_y.host());
    const double got = __half2float(result.host()[0]);
    const double tolerance = kHalfRounding + depth(n) * kRounding<float> * expected.magnitude /
                                                 std::fmax(1.0, std::fabs(expected.sum));
    comparison.close(std::vector<double>{got}, std::vector<double>{expected.sum}, tolerance);
  }
};

void half_as_float(HalfProduct& p) {
  WARPGAUGE_CUBLAS(cublasDotEx, cublas(), p.n, p.x, CUDA_R_16F, 1, p.y, CUDA_R_16F, 1, p.result,
                   CUDA_R_16F, CUDA_R_32F);
}

/// The library's status for calls that it cannot carry out.
struct Refused : warpgauge::Problem {
  Input<float> x;
  Output<double> result;
  std::vector<int> got;
  explicit Refused(const Size& size) : x(*this, size.count()), result(*this, 1) {}
  void prepare() override { got.clear(); }
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(got,
                     std::vector<int>{CUBLAS_STATUS_NOT_INITIALIZED, CUBLAS_STATUS_INVALID_VALUE,
                                      CUBLAS_STATUS_INVALID_VALUE, CUBLAS_STATUS_NOT_SUPPORTED});
  }
};

void ask_for_refusals(Refused& p) {
  const int n = static_cast<int>(p.x.count());
  const std::vector<float> host(n);
  float* const to = reinterpret_cast<float*>(static_cast<double*>(p.result));
  p.got = {
      // No handle, a stride of 0, no leading dimension.
      WARPGAUGE_CUBLAS_FUNCTION(cublasSdot)(nullptr, n, p.x, 1, p.x, 1, to),
      WARPGAUGE_CUBLAS_FUNCTION(cublasSetVector)(n, sizeof(float), host.data(), 0, to, 1),
      WARPGAUGE_CUBLAS_FUNCTION(cublasSetMatrix)(2, 1, sizeof(float), host.data(), 0, to, 2),
      // A double result of float vectors: cuBLAS has no such pair of types.
      WARPGAUGE_CUBLAS_FUNCTION(cublasDotEx)(cublas(), n, p.x, CUDA_R_32F, 1, p.x, CUDA_R_32F, 1,
                                             p.result, CUDA_R_64F, CUDA_R_64F),
  };
}

/// Copies between host and device that pick elements by a stride, and columns by a leading
/// dimension. The size: rows x columns of the part that is copied.
struct Strided : warpgauge::Problem {
  static constexpr int kGap = 3;  // rows left out below each column, and the stride of vectors
  const int rows, columns;
  const std::vector<float> from;  // columns of rows + kGap elements
  std::vector<float> back;
  Output<float> matrix;  // without gaps
  Output<float> row;     // the first one of it
  explicit Strided(const Size& size)
      : rows(static_cast<int>(size[0])),
        columns(static_cast<int>(size[1])),
        from(warpgauge::random_values<float>((rows + kGap) * columns, 1)),
        matrix(*this, size.count()),
        row(*this, columns) {}
  void prepare() override { back.assign(kGap * columns, std::nanf("")); }
  float element(int i, int j) const { return from[j * (rows + kGap) + i]; }
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<float> whole;
    for (int j = 0; j < columns; ++j) {
      for (int i = 0; i < rows; ++i) whole.push_back(element(i, j));
    }
    comparison.equal(matrix, whole);
    std::vector<float> first, returned;
    for (int j = 0; j < columns; ++j) {
      first.push_back(element(0, j));
      returned.push_back(back[j * kGap]);
    }
    comparison.equal(row, first);
    comparison.equal(returned, first);
  }
};

void set_and_get(Strided& p) {
  const int leading = p.rows + Strided::kGap;
  WARPGAUGE_CUBLAS(cublasSetMatrix, p.rows, p.columns, sizeof(float), p.from.data(), leading,
                   p.matrix, p.rows);
  WARPGAUGE_CUBLAS(cublasSetVector, p.columns, sizeof(float), p.from.data(), leading, p.row, 1);
  WARPGAUGE_CUBLAS(cublasGetVector, p.columns, sizeof(float), p.matrix, p.rows, p.back.data(),
                   Strided::kGap);
}

template <typename T>
void add_vectors(const warpgauge::Family& family, const char* type) {
  const std::vector<Size> sizes = {{1000003}, warpgauge::large({1 << 26})};
  family.problem<VectorCopy<T>>(type, sizes).uncounted("copy", [](VectorCopy<T>& p) {
    Calls::copy(p.n, p.x, p.y);
  });
  family.problem<Scale<T>>(type, sizes).uncounted("scal", [](Scale<T>& p) {
    Calls::scale(p.n, p.factor, p.x);
  });
  family.problem<Chain<T>>(type, sizes).uncounted("copy_scal_dot", copy_scale_dot<T>);
}

WARPGAUGE_FAMILY(cublas) {
  add_vectors<float>(family, "f32");
  add_vectors<double>(family, "f64");
  family.problem<HalfProduct>("f16", {{1000003}}).uncounted("dot_ex", half_as_float);
  family.problem<Refused>("f32", {{1000}}).uncounted("refused", ask_for_refusals);
  family.problem<Strided>("f32", {{100, 70}}).uncounted("set_and_get", set_and_get);
}

}  // namespace cublas_calls
