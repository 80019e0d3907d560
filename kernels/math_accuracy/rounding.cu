// Single operations in the four rounding modes of IEEE 754. The suffixes _rn, _rz, _ru, _rd round
// to nearest, zero, up, down. The last two enclose the exact result. All but _rn err twice as much.
#include <cmath>
#include <string>

#include "kernels/math_accuracy/evaluation.h"

namespace math_accuracy {

// CPU reference.
Real added(Real x, Real y) { return x + y; }
Real subtracted(Real x, Real y) { return x - y; }
Real multiplied(Real x, Real y) { return x * y; }
// x y + y. Near x = -1 it cancels, and a product rounded before the sum would leave few right bits.
Real fused_with_y(Real x, Real y) { return y * (x + 1); }
Real inverted(Real x) { return 1 / x; }
Real inverse_root(Real x) { return 1 / sqrtl(x); }
using Sum = Reference<Operands, added>;
using Difference = Reference<Operands, subtracted>;
using Product = Reference<Operands, multiplied>;
using Quotient = Reference<Operands, divided>;
using Fused = Reference<Operands, fused_with_y>;
using Reciprocal = Reference<Positive, inverted>;
using Root = Reference<Positive, sqrtl>;
using InverseRoot = Reference<Positive, inverse_root>;

enum class Rounding { kNearest, kToZero, kUp, kDown };

// Rounds as IEEE 754 asks: no float lies between the exact result and the rounded one.
template <Rounding kMode>
Range rounded(Real, Real, Real exact, Real ulp) {
  if constexpr (kMode == Rounding::kNearest) return both_ways(ulp / 2);
  const bool up = kMode == Rounding::kUp || (kMode == Rounding::kToZero && exact < 0);
  return up ? Range{0, ulp} : Range{ulp, 0};
}

// One of four results; the compiler drops the others with all that led to them.
template <Rounding kMode, typename T>
__device__ T choose(T nearest, T to_zero, T up, T down) {
  if constexpr (kMode == Rounding::kNearest) return nearest;
  if constexpr (kMode == Rounding::kToZero) return to_zero;
  return kMode == Rounding::kUp ? up : down;
}

template <Rounding kMode>
__device__ float sum(float x, float y) {
  return choose<kMode>(__fadd_rn(x, y), __fadd_rz(x, y), __fadd_ru(x, y), __fadd_rd(x, y));
}
template <Rounding kMode>
__device__ double sum(double x, double y) {
  return choose<kMode>(__dadd_rn(x, y), __dadd_rz(x, y), __dadd_ru(x, y), __dadd_rd(x, y));
}
template <Rounding kMode>
__device__ float difference(float x, float y) {
  return choose<kMode>(__fsub_rn(x, y), __fsub_rz(x, y), __fsub_ru(x, y), __fsub_rd(x, y));
}
template <Rounding kMode>
__device__ double difference(double x, double y) {
  return choose<kMode>(__dsub_rn(x, y), __dsub_rz(x, y), __dsub_ru(x, y), __dsub_rd(x, y));
}
template <Rounding kMode>
__device__ float product(float x, float y) {
  return choose<kMode>(__fmul_rn(x, y), __fmul_rz(x, y), __fmul_ru(x, y), __fmul_rd(x, y));
}
template <Rounding kMode>
__device__ double product(double x, double y) {
  return choose<kMode>(__dmul_rn(x, y), __dmul_rz(x, y), __dmul_ru(x, y), __dmul_rd(x, y));
}
template <Rounding kMode>
__device__ float quotient(float x, float y) {
  return choose<kMode>(__fdiv_rn(x, y), __fdiv_rz(x, y), __fdiv_ru(x, y), __fdiv_rd(x, y));
}
template <Rounding kMode>
__device__ double quotient(double x, double y) {
  return choose<kMode>(__ddiv_rn(x, y), __ddiv_rz(x, y), __ddiv_ru(x, y), __ddiv_rd(x, y));
}
template <Rounding kMode>
__device__ float fused(float x, float y) {
  return choose<kMode>(__fmaf_rn(x, y, y), __fmaf_rz(x, y, y), __fmaf_ru(x, y, y),
                       __fmaf_rd(x, y, y));
}
template <Rounding kMode>
__device__ double fused(double x, double y) {
  return choose<kMode>(__fma_rn(x, y, y), __fma_rz(x, y, y), __fma_ru(x, y, y), __fma_rd(x, y, y));
}
template <Rounding kMode>
__device__ float reciprocal(float x, float) {
  return choose<kMode>(__frcp_rn(x), __frcp_rz(x), __frcp_ru(x), __frcp_rd(x));
}
template <Rounding kMode>
__device__ double reciprocal(double x, double) {
  return choose<kMode>(__drcp_rn(x), __drcp_rz(x), __drcp_ru(x), __drcp_rd(x));
}
template <Rounding kMode>
__device__ float root(float x, float) {
  return choose<kMode>(__fsqrt_rn(x), __fsqrt_rz(x), __fsqrt_ru(x), __fsqrt_rd(x));
}
template <Rounding kMode>
__device__ double root(double x, double) {
  return choose<kMode>(__dsqrt_rn(x), __dsqrt_rz(x), __dsqrt_ru(x), __dsqrt_rd(x));
}
// There is but one mode of this, and only for floats.
__device__ float nearest_inverse_root(float x, float) { return __frsqrt_rn(x); }

template <typename T, Rounding kMode>
void add_mode(const warpgauge::Family& family, const std::string& mode) {
  const bool single = sizeof(T) == 4;
  const std::string prefix = single ? "__f" : "__d";
  add<Sum, rounded<kMode>, T, sum<kMode>>(family, prefix + "add_" + mode);
  add<Difference, rounded<kMode>, T, difference<kMode>>(family, prefix + "sub_" + mode);
  add<Product, rounded<kMode>, T, product<kMode>>(family, prefix + "mul_" + mode);
  add<Quotient, rounded<kMode>, T, quotient<kMode>>(family, prefix + "div_" + mode);
  add<Fused, rounded<kMode>, T, fused<kMode>>(family, (single ? "__fmaf_" : "__fma_") + mode);
  add<Reciprocal, rounded<kMode>, T, reciprocal<kMode>>(family, prefix + "rcp_" + mode);
  add<Root, rounded<kMode>, T, root<kMode>>(family, prefix + "sqrt_" + mode);
}

template <typename T>
void add_modes(const warpgauge::Family& family) {
  add_mode<T, Rounding::kNearest>(family, "rn");
  add_mode<T, Rounding::kToZero>(family, "rz");
  add_mode<T, Rounding::kUp>(family, "ru");
  add_mode<T, Rounding::kDown>(family, "rd");
}

WARPGAUGE_FAMILY(math_accuracy) {
  add_modes<float>(family);
  add_modes<double>(family);
  add<InverseRoot, rounded<Rounding::kNearest>, float, nearest_inverse_root>(family, "__frsqrt_rn");
}

}  // namespace math_accuracy
