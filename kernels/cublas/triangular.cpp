// Triangular systems by cuBLAS: one vector (trsv), and many right sides at once (trsm, trmm).
//
// A product of triangles is a triangle, so L1 L2 X = B is solved in two steps, or in one after
// multiplying the triangles. Two solves round less and read two triangles for every right side;
// the product pays for many right sides.
#include "kernels/cublas/handle.h"
#include "kernels/cublas/reference.h"
#include "warpgauge/warpgauge.h"

namespace cublas_triangular {

using warpgauge::Applied;
using warpgauge::cublas;
using warpgauge::InOut;
using warpgauge::Input;
using warpgauge::kRounding;
using warpgauge::Matrix;
using warpgauge::Output;
using warpgauge::Size;

/// Numbers from 11 on by columns, below and on the diagonal: 11 to 31 for 6 x 6.
template <typename T>
std::vector<T> counted(int n) {
  std::vector<T> l(static_cast<std::size_t>(n) * n);
  T next = 11;
  for (int column = 0; column < n; ++column) {
    for (int row = column; row < n; ++row) l[column * n + row] = next++;
  }
  return l;
}

/// Solves L x = b in place, where b is all ones.
template <typename T>
struct System : warpgauge::Problem {
  const int n;
  Input<T> l;
  InOut<T> x;
  explicit System(const Size& size)
      : n(static_cast<int>(size[0])), l(*this, counted<T>(n)), x(*this, std::vector<T>(n, 1)) {}
  double flops() const override { return 1.0 * n * n; }
  // Each of n terms is rounded n times at most, and all may have one sign.
  void check(warpgauge::Comparison& comparison) const override {
    const Matrix solved(n, x.host()), ones(n, x.initial());
    const Applied probe = warpgauge::probe(1);
    warpgauge::agree(comparison, times(Matrix(n, l.host()), times(solved, probe)),
                     times(ones, probe), n * std::sqrt(n) * kRounding<T>);
  }
};

void trsv(System<float>& p) {
  WARPGAUGE_CUBLAS(cublasStrsv, cublas(), CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT,
                   p.n, p.l, p.n, p.x, 1);
}
void trsv(System<double>& p) {
  WARPGAUGE_CUBLAS(cublasDtrsv, cublas(), CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT,
                   p.n, p.l, p.n, p.x, 1);
}

/// Solves kAlpha (A + C) C X = B, where A and C are lower triangles. The size: n x right sides.
struct ManySides : warpgauge::Problem {
  static constexpr double kAlpha = 0.5;
  const int n, sides;
  Input<double> a, c, b, one, inverse_alpha;
  Output<double> sum, product, x;
  explicit ManySides(const Size& size)
      : n(static_cast<int>(size[0])),
        sides(static_cast<int>(size[1])),
        a(*this, triangle(n, 1)),
        c(*this, triangle(n, 2)),
        b(*this, size.count(), 3),
        one(*this, std::vector<double>{1}),
        inverse_alpha(*this, std::vector<double>{1 / kAlpha}),
        sum(*this, static_cast<std::size_t>(n) * n),
        product(*this, static_cast<std::size_t>(n) * n),
        x(*this, size.count()) {}

  /// The diagonal outweighs its row, or solutions would grow beyond all bounds.
  static std::vector<double> triangle(int n, std::uint32_t seed) {
    std::vector<double> l = warpgauge::random_values<double>(static_cast<std::size_t>(n) * n, seed);
    for (int column = 0; column < n; ++column) {
      for (int row = 0; row < column; ++row) l[column * n + row] = 0;
      l[column * n + column] = n;
    }
    return l;
  }
  double bytes() const override { return sizeof(double) * (1.0 * n * n + 2.0 * n * sides); }
  // Two triangular products or solves after each other, 2 n terms in all.
  void check(warpgauge::Comparison& comparison) const override {
    const Matrix first(n, a.host()), second(n, c.host());
    const Applied left = times(warpgauge::sum(first, second),
                               times(second, times(Matrix(n, x.host()), warpgauge::probe(sides))));
    Applied right = times(Matrix(n, b.host()), warpgauge::probe(sides));
    for (warpgauge::Complex& value : right.values) value /= kAlpha;
    warpgauge::agree(comparison, left, right, warpgauge::tolerance<double>(2 * n));
  }
};

/// p.sum = A + C
void add(ManySides& p) {
  WARPGAUGE_CUBLAS(cublasDgeam, cublas(), CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.n, p.one, p.a, p.n,
                   p.one, p.c, p.n, p.sum, p.n);
}

/// p.x = factor * L^-1 * p.x
void solve(ManySides& p, const double* l, const double* factor) {
  WARPGAUGE_CUBLAS(cublasDtrsm, cublas(), CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                   CUBLAS_DIAG_NON_UNIT, p.n, p.sides, factor, l, p.n, p.x, p.n);
}

void two_solves(ManySides& p) {
  add(p);
  WARPGAUGE_CUBLAS(cublasDcopy, cublas(), p.n * p.sides, p.b, 1, p.x, 1);
  solve(p, p.sum, p.inverse_alpha);
  solve(p, p.c, p.one);
}

void product_first(ManySides& p) {
  add(p);
  WARPGAUGE_CUBLAS(cublasDtrmm, cublas(), CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                   CUBLAS_DIAG_NON_UNIT, p.n, p.n, p.one, p.sum, p.n, p.c, p.n, p.product, p.n);
  WARPGAUGE_CUBLAS(cublasDcopy, cublas(), p.n * p.sides, p.b, 1, p.x, 1);
  solve(p, p.product, p.inverse_alpha);
}

WARPGAUGE_FAMILY(cublas) {
  family.problem<System<float>>("f32", {{6}}).uncounted("trsv", [](auto& p) { trsv(p); });
  family.problem<System<double>>("f64", {{6}, {100}}).uncounted("trsv", [](auto& p) { trsv(p); });
  const auto many = family.problem<ManySides>("f64", {{100, 70}, warpgauge::large({1024, 4096})});
  many.uncounted("two_solves", two_solves);
  many.uncounted("product_first", product_first);
}

}  // namespace cublas_triangular
