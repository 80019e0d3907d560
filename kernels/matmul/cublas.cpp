// cuBLAS' product of matrices: the yardstick of this family.
#include "kernels/cublas/handle.h"
#include "kernels/matmul/problem.h"

namespace matmul {

/// The library counts matrices by columns, so it sees the transposes of ours: C' = B' * A'.
template <typename T>
struct LibraryProduct : Product<T> {
  warpgauge::Input<T> one, zero;
  explicit LibraryProduct(const warpgauge::Size& size)
      : Product<T>(size), one(*this, std::vector<T>{1}), zero(*this, std::vector<T>{0}) {}
};

void gemm(LibraryProduct<float>& p) {
  WARPGAUGE_CUBLAS(cublasSgemm, warpgauge::cublas(), CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.m, p.k, p.one,
                   p.b, p.n, p.a, p.k, p.zero, p.c, p.n);
}
void gemm(LibraryProduct<double>& p) {
  WARPGAUGE_CUBLAS(cublasDgemm, warpgauge::cublas(), CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.m, p.k, p.one,
                   p.b, p.n, p.a, p.k, p.zero, p.c, p.n);
}

WARPGAUGE_FAMILY(matmul) {
  family.problem<LibraryProduct<float>>("f32", sizes())
      .uncounted("cublas", [](LibraryProduct<float>& p) { gemm(p); });
  family.problem<LibraryProduct<double>>("f64", sizes())
      .uncounted("cublas", [](LibraryProduct<double>& p) { gemm(p); });
}

}  // namespace matmul
