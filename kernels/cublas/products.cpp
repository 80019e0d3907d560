// Products of matrices by cuBLAS: F = (A + B)^T (A B) in three calls, and complex numbers.
//
// A transpose costs nothing, because it is an option of the product; a sum of matrices is a call of
// its own (geam), bound by memory where the products are bound by arithmetic. A complex product
// takes four real ones, and its transpose can conjugate on the way.
#include "kernels/cublas/handle.h"
#include "kernels/cublas/reference.h"
#include "warpgauge/warpgauge.h"

namespace cublas_products {

using warpgauge::Applied;
using warpgauge::cublas;
using warpgauge::Input;
using warpgauge::Matrix;
using warpgauge::Output;
using warpgauge::Size;

/// Square matrices; the size is their edge.
template <typename T>
struct Task : warpgauge::Problem {
  const int n;
  Input<T> a, b, one, zero;
  Output<T> sum, product, f;
  explicit Task(const Size& size)
      : n(static_cast<int>(size[0])),
        a(*this, size[0] * size[0], 1),
        b(*this, size[0] * size[0], 2),
        one(*this, std::vector<T>{1}),
        zero(*this, std::vector<T>{0}),
        sum(*this, size[0] * size[0]),
        product(*this, size[0] * size[0]),
        f(*this, size[0] * size[0]) {}
  double bytes() const override { return 3.0 * sizeof(T) * n * n; }
  double flops() const override { return 4.0 * n * n * n + 1.0 * n * n; }
  // Terms in all: 1 of a sum, n of each product.
  void check(warpgauge::Comparison& comparison) const override {
    const Matrix first(n, a.host()), second(n, b.host());
    const Applied x = warpgauge::probe(n);
    const Applied expected =
        times(conjugate_transpose(warpgauge::sum(first, second)), times(first, times(second, x)));
    warpgauge::agree(comparison, times(Matrix(n, f.host()), x), expected,
                     warpgauge::tolerance<T>(2 * n + 1));
  }
};

void product_of_sum(Task<float>& p) {
  WARPGAUGE_CUBLAS(cublasSgeam, cublas(), CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.n, p.one, p.a, p.n,
                   p.one, p.b, p.n, p.sum, p.n);
  WARPGAUGE_CUBLAS(cublasSgemm, cublas(), CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.n, p.n, p.one, p.a, p.n,
                   p.b, p.n, p.zero, p.product, p.n);
  WARPGAUGE_CUBLAS(cublasSgemm, cublas(), CUBLAS_OP_T, CUBLAS_OP_N, p.n, p.n, p.n, p.one, p.sum,
                   p.n, p.product, p.n, p.zero, p.f, p.n);
}
void product_of_sum(Task<double>& p) {
  WARPGAUGE_CUBLAS(cublasDgeam, cublas(), CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.n, p.one, p.a, p.n,
                   p.one, p.b, p.n, p.sum, p.n);
  WARPGAUGE_CUBLAS(cublasDgemm, cublas(), CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.n, p.n, p.one, p.a, p.n,
                   p.b, p.n, p.zero, p.product, p.n);
  WARPGAUGE_CUBLAS(cublasDgemm, cublas(), CUBLAS_OP_T, CUBLAS_OP_N, p.n, p.n, p.n, p.one, p.sum,
                   p.n, p.product, p.n, p.zero, p.f, p.n);
}

/// Pairs of real and imaginary part.
template <typename T>
std::vector<std::complex<T>> complex_of(const std::vector<T>& pairs) {
  std::vector<std::complex<T>> made;
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) made.emplace_back(pairs[i], pairs[i + 1]);
  return made;
}

/// C = A^H B of complex square matrices, which lie in memory as pairs. The size is the edge.
template <typename T>
struct ComplexProduct : warpgauge::Problem {
  const int n;
  Input<T> a, b, one, zero;
  Output<T> c;
  explicit ComplexProduct(const Size& size)
      : n(static_cast<int>(size[0])),
        a(*this, 2 * size[0] * size[0], 1),
        b(*this, 2 * size[0] * size[0], 2),
        one(*this, std::vector<T>{1, 0}),
        zero(*this, std::vector<T>{0, 0}),
        c(*this, 2 * size[0] * size[0]) {}
  double flops() const override { return 8.0 * n * n * n; }
  // A complex term is a sum of two products.
  void check(warpgauge::Comparison& comparison) const override {
    const Applied x = warpgauge::probe(n);
    const Matrix first(n, complex_of(a.host())), second(n, complex_of(b.host()));
    warpgauge::agree(comparison, times(Matrix(n, complex_of(c.host())), x),
                     times(conjugate_transpose(first), times(second, x)),
                     warpgauge::tolerance<T>(2 * n));
  }
};

/// The library's type of the same layout.
const cuComplex* as_complex(const float* pairs) {
  return reinterpret_cast<const cuComplex*>(pairs);
}
cuComplex* as_complex(float* pairs) { return reinterpret_cast<cuComplex*>(pairs); }
const cuDoubleComplex* as_complex(const double* pairs) {
  return reinterpret_cast<const cuDoubleComplex*>(pairs);
}
cuDoubleComplex* as_complex(double* pairs) { return reinterpret_cast<cuDoubleComplex*>(pairs); }

void gemm(ComplexProduct<float>& p) {
  WARPGAUGE_CUBLAS(cublasCgemm, cublas(), CUBLAS_OP_C, CUBLAS_OP_N, p.n, p.n, p.n,
                   as_complex(p.one), as_complex(p.a), p.n, as_complex(p.b), p.n,
                   as_complex(p.zero), as_complex(p.c), p.n);
}
void gemm(ComplexProduct<double>& p) {
  WARPGAUGE_CUBLAS(cublasZgemm, cublas(), CUBLAS_OP_C, CUBLAS_OP_N, p.n, p.n, p.n,
                   as_complex(p.one), as_complex(p.a), p.n, as_complex(p.b), p.n,
                   as_complex(p.zero), as_complex(p.c), p.n);
}

template <typename T>
void add_products(const warpgauge::Family& family, const char* type, const char* complex_type) {
  const std::vector<Size> sizes = {{200}, warpgauge::large({2048})};
  family.problem<Task<T>>(type, sizes).uncounted("product_of_sum", [](Task<T>& p) {
    product_of_sum(p);
  });
  family.problem<ComplexProduct<T>>(complex_type, sizes)
      .uncounted("gemm", [](ComplexProduct<T>& p) { gemm(p); });
}

WARPGAUGE_FAMILY(cublas) {
  add_products<float>(family, "f32", "c32");
  add_products<double>(family, "f64", "c64");
}

}  // namespace cublas_products
