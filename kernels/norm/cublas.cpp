// cuBLAS' norm: the yardstick of this family.
#include "kernels/cublas/handle.h"
#include "kernels/norm/problem.h"

namespace norms {

void nrm2(Norm<float, 0>& p) {
  WARPGAUGE_CUBLAS(cublasSnrm2, warpgauge::cublas(), p.n, p.x, 1, p.result);
}
void nrm2(Norm<double, 0>& p) {
  WARPGAUGE_CUBLAS(cublasDnrm2, warpgauge::cublas(), p.n, p.x, 1, p.result);
}

WARPGAUGE_FAMILY(norm) {
  family.problem<Norm<float, 0>>("f32", sizes<float>()).uncounted("cublas", [](Norm<float, 0>& p) {
    nrm2(p);
  });
  family.problem<Norm<double, 0>>("f64", sizes<double>())
      .uncounted("cublas", [](Norm<double, 0>& p) { nrm2(p); });
}

}  // namespace norms
