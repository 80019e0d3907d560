// LU factors of many small matrices by cuBLAS (getrfBatched), and systems solved by them (getrs).
//
// One small matrix does not fill a GPU, a thousand of them do. The library takes an array of
// addresses in device memory, one a matrix.
#include <utility>

#include "kernels/cublas/handle.h"
#include "kernels/cublas/reference.h"
#include "warpgauge/warpgauge.h"

namespace cublas_factors {

using warpgauge::Applied;
using warpgauge::cublas;
using warpgauge::InOut;
using warpgauge::kRounding;
using warpgauge::Matrix;
using warpgauge::Output;
using warpgauge::Size;

/// Part `index` of `count` elements of a vector.
std::vector<float> part(const std::vector<float>& of, int index, int count) {
  const auto begin = of.begin() + static_cast<std::ptrdiff_t>(index) * count;
  return {begin, begin + count};
}

/// Random matrices, each by columns. The size: matrices x their edge.
struct Matrices : warpgauge::Problem {
  const int count, n;
  InOut<float> a;
  Output<int> pivots, info;
  Output<float*> addresses;
  explicit Matrices(const Size& size)
      : count(static_cast<int>(size[0])),
        n(static_cast<int>(size[1])),
        a(*this, static_cast<std::size_t>(count) * n * n),
        pivots(*this, static_cast<std::size_t>(count) * n),
        info(*this, count),
        addresses(*this, count) {}
  void prepare() override { point(addresses, a, n * n); }
  double flops() const override { return 2.0 / 3 * count * n * n * n; }

  /// Writes the addresses of parts of `stride` elements into `to`.
  void point(float** to, float* first, std::ptrdiff_t stride) const {
    std::vector<float*> made(count);
    for (int k = 0; k < count; ++k) made[k] = first + k * stride;
    WARPGAUGE_CUDA(cudaMemcpy(static_cast<void*>(to), static_cast<const void*>(made.data()),
                              count * sizeof(float*), cudaMemcpyHostToDevice));
  }
  /// Partial pivoting: a rounding a term, of elements that grow to a few units at most.
  double tolerance() const { return 8 * n * kRounding<float>; }

  // Factors, multiplied again, must give the matrix with its rows exchanged.
  void check(warpgauge::Comparison& comparison) const override {
    const std::vector<float> lu = a.host();
    const std::vector<int> exchanged = pivots.host();
    comparison.equal(info, std::vector<int>(count, 0));
    for (int k = 0; k < count; ++k) {
      const Matrix both(n, part(lu, k, n * n));
      const Matrix l = warpgauge::matrix(n, n, [&](int i, int j) {
        return i == j ? 1.0 : i > j ? both.at(i, j) : 0.0;
      });
      const Matrix u =
          warpgauge::matrix(n, n, [&](int i, int j) { return i <= j ? both.at(i, j) : 0.0; });
      Matrix initial(n, part(a.initial(), k, n * n));
      for (int row = 0; row < n; ++row) {
        const int other = exchanged[k * n + row] - 1;
        for (int j = 0; j < n; ++j) std::swap(initial.at(row, j), initial.at(other, j));
      }
      const Applied x = warpgauge::probe(n);
      warpgauge::agree(comparison, times(l, times(u, x)), times(initial, x), tolerance());
    }
  }
};

void getrf_batched(Matrices& p) {
  WARPGAUGE_CUBLAS(cublasSgetrfBatched, cublas(), p.n, p.addresses, p.n, p.pivots, p.info, p.count);
}

/// A x = b for each of the matrices.
struct Systems : Matrices {
  InOut<float> x;
  Output<float*> x_addresses;
  int refused_argument = -1;  // of getrs, which answers on the host
  explicit Systems(const Size& size)
      : Matrices(size), x(*this, size.count(), 2), x_addresses(*this, count) {}
  void prepare() override {
    Matrices::prepare();
    point(x_addresses, x, n);
  }
  double flops() const override { return Matrices::flops() + 2.0 * count * n * n; }
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(std::vector<int>{refused_argument}, std::vector<int>{0});
    comparison.equal(info, std::vector<int>(count, 0));
    const std::vector<float> solved = x.host();
    const Applied probe = warpgauge::probe(1);
    for (int k = 0; k < count; ++k) {
      const Matrix matrix(n, part(a.initial(), k, n * n));
      warpgauge::agree(comparison, times(matrix, times(Matrix(n, part(solved, k, n)), probe)),
                       times(Matrix(n, part(x.initial(), k, n)), probe), tolerance());
    }
  }
};

void getrs_batched(Systems& p) {
  getrf_batched(p);
  WARPGAUGE_CUBLAS(cublasSgetrsBatched, cublas(), CUBLAS_OP_N, p.n, 1, p.addresses, p.n, p.pivots,
                   p.x_addresses, p.n, &p.refused_argument, p.count);
}

WARPGAUGE_FAMILY(cublas) {
  const std::vector<Size> sizes = {{1000, 8}, {100, 32}};
  family.problem<Matrices>("f32", sizes).uncounted("getrf_batched", getrf_batched);
  family.problem<Systems>("f32", sizes).uncounted("getrs_batched", getrs_batched);
}

}  // namespace cublas_factors
