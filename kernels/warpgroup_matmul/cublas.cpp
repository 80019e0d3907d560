// cuBLAS' product of matrices of halves: the yardstick of this family.
#include "kernels/cublas/handle.h"
#include "kernels/warpgroup_matmul/problem.h"

namespace warpgroup_matmul {

struct LibraryProduct : Product {
  warpgauge::Input<float> one, zero;
  explicit LibraryProduct(const warpgauge::Size& size)
      : Product(size), one(*this, std::vector<float>{1}), zero(*this, std::vector<float>{0}) {}
};

/// The library counts matrices by columns, so it sees the transposes of ours: C' = B * A', where B
/// is stored as the library's B'. Sums are floats, by tensor cores.
void gemm(LibraryProduct& p) {
  WARPGAUGE_CUBLAS(cublasSetMathMode, warpgauge::cublas(), CUBLAS_DEFAULT_MATH);
  const std::uint16_t *a = p.a, *b = p.b;
  std::uint16_t* c = p.c;
  const float *one = p.one, *zero = p.zero;
  WARPGAUGE_CUBLAS(cublasGemmEx_64, warpgauge::cublas(), CUBLAS_OP_T, CUBLAS_OP_N, p.n, p.m, p.k,
                   one, b, CUDA_R_16F, p.k, a, CUDA_R_16F, p.k, zero, c, CUDA_R_16F, p.n,
                   CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  WARPGAUGE_CUBLAS(cublasSetMathMode, warpgauge::cublas(), CUBLAS_PEDANTIC_MATH);
}

WARPGAUGE_FAMILY(warpgroup_matmul) {
  family.problem<LibraryProduct>("f16", sizes()).uncounted("cublas", gemm);
}

}  // namespace warpgroup_matmul
