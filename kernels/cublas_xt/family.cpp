// cuBLAS-Xt: products and solves with matrices that lie in host memory, cut into square blocks that
// the library sends to one or several devices.
//
// When matrices do not fit on a device, or several devices share the work, the block edge decides
// the speed: small blocks are sent again and again and hide no copy behind a product.
// The CPU can take part of a product (`cpu_share`). Triangles, symmetric and packed
// matrices are sent once and completed on the device.
#include <cmath>
#include <complex>

#include "kernels/cublas/reference.h"
#include "kernels/cublas_xt/handle.h"

namespace cublas_xt_calls {

using warpgauge::Applied;
using warpgauge::cublas_xt;
using warpgauge::Matrix;
using warpgauge::XtDevices;
using ComplexFloat = std::complex<float>;

constexpr int kBlock = 1024;
constexpr float kOne = 1, kZero = 0;

/// The shape of the first matrix; the library reads only its lower triangle, unless it is full.
enum class Shape { full, symmetric, hermitian, lower, packed };

template <typename T>
std::vector<T> random(std::size_t count, std::uint32_t seed) {
  return warpgauge::random_values<T>(count, seed);
}
template <>
std::vector<ComplexFloat> random(std::size_t count, std::uint32_t seed) {
  const std::vector<float> pairs = warpgauge::random_values<float>(2 * count, seed);
  std::vector<ComplexFloat> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = {pairs[2 * i], pairs[2 * i + 1]};
  return made;
}

/// The whole matrix of edge n that `elements` stand for.
template <typename T>
Matrix whole(const std::vector<T>& elements, int n, Shape shape) {
  const auto stored = [&](int i, int j) -> warpgauge::Complex {  // i >= j
    const std::size_t column = j;
    const std::size_t at =
        shape == Shape::packed ? column * n - column * (column + 1) / 2 + i : column * n + i;
    return warpgauge::Complex(elements[at]);
  };
  return warpgauge::matrix(n, n, [&](int i, int j) -> warpgauge::Complex {
    if (shape == Shape::full)
      return warpgauge::Complex(elements[static_cast<std::size_t>(j) * n + i]);
    if (shape == Shape::hermitian && i == j) return stored(i, j).real();
    if (i >= j) return stored(i, j);
    if (shape == Shape::lower) return 0.0;
    return shape == Shape::hermitian ? std::conj(stored(j, i)) : stored(j, i);
  });
}

/// C = A * B of square matrices in host memory, all by columns. The size is their edge.
template <typename T, Shape kShape = Shape::full>
struct HostProduct : warpgauge::Problem {
  const int n;
  std::vector<T> a, b, c;
  explicit HostProduct(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])),
        a(random<T>(kShape == Shape::packed ? size[0] * (size[0] + 1) / 2 : size[0] * size[0], 1)),
        b(random<T>(size[0] * size[0], 2)) {}
  void prepare() override { c.assign(b.size(), T(std::nanf(""))); }
  double bytes() const override { return sizeof(T) * (a.size() + 2.0 * b.size()); }
  double flops() const override {
    constexpr double kTerm = std::is_same_v<T, ComplexFloat> ? 8 : 2;  // a product and a sum
    return (kShape == Shape::lower ? kTerm / 2 : kTerm) * n * n * n;
  }
  // n terms of the product, and n of the probe.
  void check(warpgauge::Comparison& comparison) const override {
    const Applied x = warpgauge::probe(n);
    warpgauge::agree(comparison, times(Matrix(n, c), x),
                     times(whole(a, n, kShape), times(Matrix(n, b), x)),
                     warpgauge::tolerance<float>(2 * n));
  }
};

template <XtDevices kDevices, int kEdge>
void gemm(HostProduct<float>& p) {
  WARPGAUGE_CUBLAS(cublasXtSgemm, cublas_xt<kDevices>(kEdge), CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.n,
                   p.n, &kOne, p.a.data(), p.n, p.b.data(), p.n, &kZero, p.c.data(), p.n);
}

/// The CPU's part of a product, which the library calls as Fortran calls BLAS.
void cpu_gemm(const char* a_form, const char* b_form, const int* m, const int* n, const int* k,
              const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
              const float* beta, float* c, const int* ldc) {
  if ((*a_form | 0x20) != 'n' || (*b_form | 0x20) != 'n') return;  // C stays NaN: the check fails
  for (std::ptrdiff_t j = 0; j < *n; ++j) {
    float* const column = c + j * *ldc;
    for (int i = 0; i < *m; ++i) column[i] = *beta == 0 ? 0 : *beta * column[i];
    for (std::ptrdiff_t l = 0; l < *k; ++l) {
      const float factor = *alpha * b[j * *ldb + l];
      for (int i = 0; i < *m; ++i) column[i] += factor * a[l * *lda + i];
    }
  }
}

/// Leaves an eighth of the work to the CPU.
void cpu_share(HostProduct<float>& p) {
  const cublasXtHandle_t xt = cublas_xt(kBlock);
  WARPGAUGE_CUBLAS(cublasXtSetCpuRoutine, xt, CUBLASXT_GEMM, CUBLASXT_FLOAT,
                   reinterpret_cast<void*>(cpu_gemm));
  WARPGAUGE_CUBLAS(cublasXtSetCpuRatio, xt, CUBLASXT_GEMM, CUBLASXT_FLOAT, 0.125f);
  gemm<XtDevices::first, kBlock>(p);
  WARPGAUGE_CUBLAS(cublasXtSetCpuRatio, xt, CUBLASXT_GEMM, CUBLASXT_FLOAT, 0);
}

void symm(HostProduct<float, Shape::symmetric>& p) {
  WARPGAUGE_CUBLAS(cublasXtSsymm, cublas_xt(kBlock), CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, p.n,
                   p.n, &kOne, p.a.data(), p.n, p.b.data(), p.n, &kZero, p.c.data(), p.n);
}

void hemm(HostProduct<ComplexFloat, Shape::hermitian>& p) {
  const cuComplex one = {1, 0}, zero = {0, 0};
  WARPGAUGE_CUBLAS(cublasXtChemm, cublas_xt(kBlock), CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, p.n,
                   p.n, &one, reinterpret_cast<const cuComplex*>(p.a.data()), p.n,
                   reinterpret_cast<const cuComplex*>(p.b.data()), p.n, &zero,
                   reinterpret_cast<cuComplex*>(p.c.data()), p.n);
}

void trmm(HostProduct<float, Shape::lower>& p) {
  WARPGAUGE_CUBLAS(cublasXtStrmm, cublas_xt(kBlock), CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER,
                   CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, p.n, p.n, &kOne, p.a.data(), p.n, p.b.data(),
                   p.n, p.c.data(), p.n);
}

void spmm(HostProduct<float, Shape::packed>& p) {
  WARPGAUGE_CUBLAS(cublasXtSspmm, cublas_xt(kBlock), CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, p.n,
                   p.n, &kOne, p.a.data(), p.b.data(), p.n, &kZero, p.c.data(), p.n);
}

/// L X = B, solved in place. The diagonal outweighs its row, or solutions would grow.
struct HostSolve : warpgauge::Problem {
  const int n;
  std::vector<float> l, b, x;
  explicit HostSolve(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])),
        l(random<float>(size[0] * size[0], 1)),
        b(random<float>(size[0] * size[0], 2)) {
    for (std::size_t i = 0; i < l.size(); i += n + 1) l[i] = static_cast<float>(n);
  }
  void prepare() override { x = b; }
  double bytes() const override { return static_cast<double>(3 * sizeof(float) * b.size()); }
  double flops() const override { return 1.0 * n * n * n; }
  void check(warpgauge::Comparison& comparison) const override {
    const Applied probe = warpgauge::probe(n);
    warpgauge::agree(comparison, times(whole(l, n, Shape::lower), times(Matrix(n, x), probe)),
                     times(Matrix(n, b), probe), warpgauge::tolerance<float>(2 * n));
  }
};

void trsm(HostSolve& p) {
  WARPGAUGE_CUBLAS(cublasXtStrsm, cublas_xt(kBlock), CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER,
                   CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, p.n, p.n, &kOne, p.l.data(), p.n, p.x.data(),
                   p.n);
}

WARPGAUGE_FAMILY(cublas_xt) {
  const std::vector<warpgauge::Size> edges = {{512}, {1000}};
  // Small blocks of a large matrix are millions of products, each with copies of its own.
  const auto products_to = [&](std::int64_t largest) {
    std::vector<warpgauge::Size> sizes = edges;
    sizes.push_back(warpgauge::large({largest}));
    return family.problem<HostProduct<float>>("f32", sizes);
  };
  products_to(4096).uncounted("blocks_small", gemm<XtDevices::first, 64>);
  const auto products = products_to(8192);
  products.uncounted("blocks_large", gemm<XtDevices::first, kBlock>);
  products.uncounted("all_devices", gemm<XtDevices::all, kBlock>);
  family.problem<HostProduct<float>>("f32", edges).uncounted("cpu_share", cpu_share);
  family.problem<HostProduct<float, Shape::symmetric>>("f32", edges).uncounted("symm", symm);
  family.problem<HostProduct<ComplexFloat, Shape::hermitian>>("c32", edges).uncounted("hemm", hemm);
  family.problem<HostProduct<float, Shape::lower>>("f32", edges).uncounted("trmm", trmm);
  family.problem<HostProduct<float, Shape::packed>>("f32", edges).uncounted("spmm", spmm);
  family.problem<HostSolve>("f32", edges).uncounted("trsm", trsm);
}

}  // namespace cublas_xt_calls
