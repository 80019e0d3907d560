// Arithmetic intensity: every element is read, goes through k fused multiply-adds, and is written.
// The size of a case is the number of elements and k: 1, 2, 4, ..., 256.
//
// The bytes are the same for all k, and so is the time while memory is the bottleneck; from some k
// on the arithmetic takes longer, and the time grows with k. That bend
// is the ridge of the roofline: of an H100 at about 80 for float (67 TFLOP/s over 3.35 TB/s are 20
// operations a byte; an element has 2 k operations and 8 bytes). Left of it, arithmetic is free.
#include <limits>

#include "warpgauge/warpgauge.h"

namespace intensity {

constexpr int kThreads = 256;
constexpr int kMostSteps = 256;

// One step, y = kFactor * y + kOffset, moves y a little towards 1, which it never reaches: no
// overflow, no denormals, and each step shows in the result. Both constants are exact.
constexpr double kFactor = 1 - 1.0 / 256, kOffset = 1.0 / 256;

// CPU reference: y - 1 shrinks by kFactor a step.
template <typename T>
std::vector<double> after_steps(const std::vector<T>& x, int steps) {
  double factor = 1;
  for (int step = 0; step < steps; ++step) factor *= kFactor;
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = 1 + factor * (static_cast<double>(x[i]) - 1);
  return y;
}

// Four floats or two doubles: one access of 16 bytes. They are independent, so that a warp need
// not wait for a result before it starts the next operation.
template <typename T>
struct alignas(16) Pack {
  static constexpr int kCount = 16 / sizeof(T);
  T element[kCount];
};

template <typename T, int kSteps>
struct Steps : warpgauge::Problem {
  const int n;  // a multiple of a pack
  warpgauge::Input<T> x;
  warpgauge::Output<T> y;

  explicit Steps(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])), x(*this, n), y(*this, n) {}
  // A step rounds once, by half an epsilon at most, since |y| <= 1; later steps shrink that error.
  void check(warpgauge::Comparison& comparison) const override {
    constexpr double kEpsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
    comparison.close(y, after_steps(x.host(), kSteps), kSteps * kEpsilon / 2);
  }
  double flops() const override { return 2.0 * kSteps * n; }
};

// The number of steps is known to the compiler, which unrolls them all: no instruction is spent on
// counting.
template <typename T, int kSteps>
__global__ void fma_steps(Pack<T>* y, const Pack<T>* x, int packs) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= packs) return;
  Pack<T> pack = x[i];
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    for (T& element : pack.element) element = fma(element, T{kFactor}, T{kOffset});
  }
  y[i] = pack;
}

template <typename T, int kSteps>
void launch(Steps<T, kSteps>& p) {
  const int packs = p.n / Pack<T>::kCount;
  fma_steps<T, kSteps><<<(packs + kThreads - 1) / kThreads, kThreads>>>(
      reinterpret_cast<Pack<T>*>(static_cast<T*>(p.y)),
      reinterpret_cast<const Pack<T>*>(static_cast<const T*>(p.x)), packs);
}

// Registers kSteps and all larger powers of two: whole blocks; not whole ones; for the roofline.
template <typename T, int kSteps>
void add_steps(const warpgauge::Family& family, const char* type) {
  family
      .problem<Steps<T, kSteps>>(
          type, {{65536, kSteps}, {1000, kSteps}, warpgauge::large({1 << 26, kSteps})})
      .sizes_between({Pack<T>::kCount, kSteps}, {1 << 26, kSteps}, {Pack<T>::kCount, 1})
      .variant("fma", launch<T, kSteps>);
  if constexpr (kSteps < kMostSteps) add_steps<T, 2 * kSteps>(family, type);
}

WARPGAUGE_FAMILY(intensity) {
  add_steps<float, 1>(family, "f32");
  add_steps<double, 1>(family, "f64");
}

}  // namespace intensity
