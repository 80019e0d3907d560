// cuBLAS' dot product: the yardstick of this family.
#include "kernels/cublas/handle.h"
#include "kernels/dot_product/problem.h"

namespace dot_product {

void dot(Dot<float>& p) {
  WARPGAUGE_CUBLAS(cublasSdot, warpgauge::cublas(), p.n, p.x, 1, p.y, 1, p.result);
}
void dot(Dot<double>& p) {
  WARPGAUGE_CUBLAS(cublasDdot, warpgauge::cublas(), p.n, p.x, 1, p.y, 1, p.result);
}

WARPGAUGE_FAMILY(dot_product) {
  family.problem<Dot<float>>("f32", sizes<float>()).uncounted("cublas", [](Dot<float>& p) {
    dot(p);
  });
  family.problem<Dot<double>>("f64", sizes<double>()).uncounted("cublas", [](Dot<double>& p) {
    dot(p);
  });
}

}  // namespace dot_product
