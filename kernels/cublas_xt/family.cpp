// cuBLAS-Xt: products of matrices that lie in host memory, cut into square blocks that the library
// sends to one or several devices.
//
// What it teaches: when matrices do not fit on a device, or several devices shall share the work,
// the block edge decides: small blocks are sent again and again and hide no copy behind a product.
#include <cublasXt.h>

#include <cmath>

#include "kernels/cublas/handle.h"
#include "warpgauge/warpgauge.h"

namespace cublas_xt {

/// Device 0, or all of them.
enum class Devices { first, all };

/// The library's handle for one choice of devices; made when it is first needed.
template <Devices kDevices>
cublasXtHandle_t handle() {
  static const cublasXtHandle_t handle = [] {
    cublasXtHandle_t made = nullptr;
    WARPGAUGE_CUBLAS(cublasXtCreate(&made));
    int count = 1;
    if (kDevices == Devices::all) WARPGAUGE_CUDA(cudaGetDeviceCount(&count));
    std::vector<int> devices;
    for (int device = 0; device < count; ++device) devices.push_back(device);
    WARPGAUGE_CUBLAS(cublasXtDeviceSelect(made, count, devices.data()));
    return made;
  }();
  return handle;
}

/// C = A * B of square matrices in host memory, all by columns.
struct HostProduct : warpgauge::Problem {
  const int n;
  std::vector<float> a, b, c;
  explicit HostProduct(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])),
        a(warpgauge::random_values<float>(size[0] * size[0], 1)),
        b(warpgauge::random_values<float>(size[0] * size[0], 2)) {}
  void prepare() override { c.assign(a.size(), std::nanf("")); }
  double bytes() const override { return 3.0 * sizeof(float) * n * n; }
  double flops() const override { return 2.0 * n * n * n; }

  /// Against a vector of ones: C * 1 = A * (B * 1). Rounding: n additions of products below 1 to a
  /// sum below n in each of n elements of a row, of either sign, so about the root of their number.
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<double> b_sums(n), expected(n), sums(n);
    for (int column = 0; column < n; ++column) {
      for (int row = 0; row < n; ++row) b_sums[row] += b[at(row, column)];
    }
    for (int column = 0; column < n; ++column) {
      for (int row = 0; row < n; ++row) {
        expected[row] += double{a[at(row, column)]} * b_sums[column];
        sums[row] += c[at(row, column)];
      }
    }
    comparison.close(sums, expected, 0x1p-24 * n * std::sqrt(n));
  }

 private:
  std::size_t at(int row, int column) const { return static_cast<std::size_t>(column) * n + row; }
};

template <Devices kDevices, int kBlock>
void gemm(HostProduct& p) {
  static const float kOne = 1, kZero = 0;
  const cublasXtHandle_t xt = handle<kDevices>();
  WARPGAUGE_CUBLAS(cublasXtSetBlockDim(xt, kBlock));
  WARPGAUGE_CUBLAS(cublasXtSgemm(xt, CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.n, p.n, &kOne, p.a.data(),
                                 p.n, p.b.data(), p.n, &kZero, p.c.data(), p.n));
}

WARPGAUGE_FAMILY(cublas_xt) {
  const auto f32 = family.problem<HostProduct>("f32", {{512}, {1000}, warpgauge::large({8192})});
  f32.uncounted("blocks_small", gemm<Devices::first, 64>);
  f32.uncounted("blocks_large", gemm<Devices::first, 1024>);
  f32.uncounted("all_devices", gemm<Devices::all, 1024>);
}

}  // namespace cublas_xt
