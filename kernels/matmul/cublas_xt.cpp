// The matrix product by cuBLAS-Xt, from and to host memory: shows the cost of the copies.
#include "kernels/cublas_xt/handle.h"
#include "kernels/matmul/problem.h"

namespace matmul {

template <typename T>
struct HostProduct : Product<T> {
  std::vector<T> host_c;
  using Product<T>::Product;
  void prepare() override { host_c.assign(this->c.count(), std::numeric_limits<T>::quiet_NaN()); }
  std::vector<T> result() const override { return host_c; }
};

constexpr int kBlock = 1024;

void gemm(HostProduct<float>& p) {
  static const float kOne = 1, kZero = 0;
  WARPGAUGE_CUBLAS(cublasXtSgemm, warpgauge::cublas_xt(kBlock), CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.m,
                   p.k, &kOne, p.b.host().data(), p.n, p.a.host().data(), p.k, &kZero,
                   p.host_c.data(), p.n);
}
void gemm(HostProduct<double>& p) {
  static const double kOne = 1, kZero = 0;
  WARPGAUGE_CUBLAS(cublasXtDgemm, warpgauge::cublas_xt(kBlock), CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.m,
                   p.k, &kOne, p.b.host().data(), p.n, p.a.host().data(), p.k, &kZero,
                   p.host_c.data(), p.n);
}

WARPGAUGE_FAMILY(matmul) {
  family.problem<HostProduct<float>>("f32", sizes())
      .uncounted("cublas_xt", [](HostProduct<float>& p) { gemm(p); });
  family.problem<HostProduct<double>>("f64", sizes())
      .uncounted("cublas_xt", [](HostProduct<double>& p) { gemm(p); });
}

}  // namespace matmul
