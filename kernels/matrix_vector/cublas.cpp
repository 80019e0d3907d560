// cuBLAS' product of a matrix and a vector: the yardstick of this family.
#include "kernels/cublas/handle.h"
#include "kernels/matrix_vector/problem.h"

namespace matrix_vector {

/// The library counts matrices by columns: our rows are its columns, so the transpose is wanted.
template <typename T>
struct LibraryProduct : Product<T> {
  warpgauge::Input<T> one, zero;
  explicit LibraryProduct(const warpgauge::Size& size)
      : Product<T>(size), one(*this, std::vector<T>{1}), zero(*this, std::vector<T>{0}) {}
};

void gemv(LibraryProduct<float>& p) {
  WARPGAUGE_CUBLAS(cublasSgemv, warpgauge::cublas(), CUBLAS_OP_T, p.columns, p.rows, p.one, p.a,
                   p.columns, p.x, 1, p.zero, p.y, 1);
}
void gemv(LibraryProduct<double>& p) {
  WARPGAUGE_CUBLAS(cublasDgemv, warpgauge::cublas(), CUBLAS_OP_T, p.columns, p.rows, p.one, p.a,
                   p.columns, p.x, 1, p.zero, p.y, 1);
}

WARPGAUGE_FAMILY(matrix_vector) {
  family.problem<LibraryProduct<float>>("f32", sizes())
      .uncounted("cublas", [](LibraryProduct<float>& p) { gemv(p); });
  family.problem<LibraryProduct<double>>("f64", sizes())
      .uncounted("cublas", [](LibraryProduct<double>& p) { gemv(p); });
}

}  // namespace matrix_vector
