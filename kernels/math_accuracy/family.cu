// Accuracy and cost of mathematical functions: y[i] = f(x[i]), the x[i] evenly spread.
//
// Intrinsics trade accuracy for instructions.
// - A function of the library (sinf) takes tens of instructions and errs by few units in the last
//   place (ulps). In double sin and cos load their polynomial from global memory.
// - An intrinsic (__sinf) takes a handful. Its error is absolute, so that few bits are right next
//   to a zero (__sinf, __logf), or grows with the argument (__expf).
// - Arithmetic of doubles hides in a float kernel where a constant lacks its f (degrees.cu).
// - Single operations can be rounded in four ways (rounding.cu).
// Among the facts are `instructions`, result.max_error, result.mean_absolute_error and
// result.mean_relative_error (the hardware's approximations are nearer to exact on the emulator
// than on a GPU). The check holds every result to the error bound that the CUDA C++ Programming
// Guide (appendix "Mathematical Functions") states for its argument.
#include <cmath>

#include "kernels/math_accuracy/evaluation.h"

namespace math_accuracy {

// CPU reference.
struct BetweenPoles {
  static constexpr int kSteps = kArguments;
  static constexpr Interval kX = {-kPi / 3, kPi / 3}, kY = {};
};
Real both(Real x, Real) { return sinl(x) + cosl(x); }

using Sine = Reference<Angles, sinl>;
using Cosine = Reference<Angles, cosl>;
using SineAndCosine = Reference<Angles, both>;
using Tangent = Reference<BetweenPoles, tanl>;
using Exp = Reference<Angles, expl>;
using Exp10 = Reference<Angles, exp10l>;
using Log = Reference<Positive, logl>;
using Log2 = Reference<Positive, log2l>;
using Log10 = Reference<Positive, log10l>;
using Power = Reference<Positive, powl>;
using Quotient = Reference<Operands, divided>;

// Error bounds of the intrinsics.
template <int kCentiBits>
Range absolute(Real, Real, Real, Real) {
  return both_ways(power_of_two(-kCentiBits / 100.0));
}

// sinf + cosf, each within two ulps of a result of at most 1, and the rounding of the sum.
template <typename T>
Range sine_and_cosine_bound(Real, Real, Real, Real ulp) {
  return both_ways(2 * 2.5 * ulp_of<T>(0.99L) + ulp / 2);
}

// __sinf + __cosf, and the rounding of the sum.
Range fast_sine_and_cosine_bound(Real, Real, Real, Real ulp) {
  return both_ways(power_of_two(-21.41) + power_of_two(-21.19) + ulp);
}

// __sinf(x) * (1 / __cosf(x)): both errors, enlarged by the division, then 2 ulps of __fdividef.
Range fast_tangent_bound(Real x, Real, Real exact, Real ulp) {
  const Real of_sine = power_of_two(-21.41), of_cosine = power_of_two(-21.19);
  const Real error = (of_sine + std::fabs(exact) * of_cosine) / (std::cos(x) - of_cosine);
  return both_ways(error + 2.5 * ulp);
}

// The product that makes it a power of two is rounded: the worse, the larger x is.
template <int kMilliUlpsPerX>
Range fast_exp_bound(Real x, Real, Real, Real ulp) {
  return both_ways((2.5 + std::floor(std::fabs(kMilliUlpsPerX / Real(1000) * x))) * ulp);
}

// About its zero at 1 a logarithm has an absolute error.
template <int kCentiBits, int kUlps>
Range fast_log_bound(Real x, Real, Real, Real ulp) {
  const bool about_one = x >= 0.5 && x <= 2;
  return both_ways(about_one ? power_of_two(-kCentiBits / 100.0) : (kUlps + 0.5) * ulp);
}

// exp2f(y * __log2f(x)): the exponent has the error of the logarithm, |y| times, and is rounded;
// that is a relative error ln 2 times as large; then come the 2 ulps of exp2f.
Range fast_power_bound(Real x, Real y, Real exact, Real ulp) {
  const Real log = std::log2(x), rounding = power_of_two(-24);
  const bool about_one = x >= 0.5 && x <= 2;
  const Real log_error = about_one ? power_of_two(-22) : 5 * rounding * std::fabs(log);
  const Real exponent_error = std::fabs(y) * log_error + std::fabs(y * log) * rounding;
  return both_ways(std::fabs(exact) * (power_of_two(exponent_error) - 1) + 2.5 * ulp);
}

// The evaluated functions: those of the library,
__device__ float sine(float x, float) { return sinf(x); }
__device__ float cosine(float x, float) { return cosf(x); }
__device__ float sine_and_cosine(float x, float) {
  float sine_of_x, cosine_of_x;
  sincosf(x, &sine_of_x, &cosine_of_x);
  return sine_of_x + cosine_of_x;
}
__device__ float tangent(float x, float) { return tanf(x); }
__device__ float natural_exp(float x, float) { return expf(x); }
__device__ float exp_10(float x, float) { return exp10f(x); }
__device__ float natural_log(float x, float) { return logf(x); }
__device__ float log_2(float x, float) { return log2f(x); }
__device__ float log_10(float x, float) { return log10f(x); }
__device__ float power(float x, float y) { return powf(x, y); }
__device__ double sine(double x, double) { return sin(x); }
__device__ double cosine(double x, double) { return cos(x); }
__device__ double sine_and_cosine(double x, double) {
  double sine_of_x, cosine_of_x;
  sincos(x, &sine_of_x, &cosine_of_x);
  return sine_of_x + cosine_of_x;
}
__device__ double tangent(double x, double) { return tan(x); }
__device__ double natural_exp(double x, double) { return exp(x); }
__device__ double exp_10(double x, double) { return exp10(x); }
__device__ double natural_log(double x, double) { return log(x); }
__device__ double log_2(double x, double) { return log2(x); }
__device__ double log_10(double x, double) { return log10(x); }
__device__ double power(double x, double y) { return pow(x, y); }

// and the intrinsics: a few instructions around the special function unit.
__device__ float fast_sine(float x, float) { return __sinf(x); }
__device__ float fast_cosine(float x, float) { return __cosf(x); }
__device__ float fast_sine_and_cosine(float x, float) {
  float sine_of_x, cosine_of_x;
  __sincosf(x, &sine_of_x, &cosine_of_x);
  return sine_of_x + cosine_of_x;
}
__device__ float fast_tangent(float x, float) { return __tanf(x); }
__device__ float fast_exp(float x, float) { return __expf(x); }
__device__ float fast_exp_10(float x, float) { return __exp10f(x); }
__device__ float fast_log(float x, float) { return __logf(x); }
__device__ float fast_log_2(float x, float) { return __log2f(x); }
__device__ float fast_log_10(float x, float) { return __log10f(x); }
__device__ float fast_power(float x, float y) { return __powf(x, y); }
__device__ float fast_quotient(float x, float y) { return __fdividef(x, y); }

WARPGAUGE_FAMILY(math_accuracy) {
  add<Sine, ulps<2>, float, sine>(family, "sinf");
  add<Sine, absolute<2141>, float, fast_sine>(family, "__sinf");
  add<Cosine, ulps<2>, float, cosine>(family, "cosf");
  add<Cosine, absolute<2119>, float, fast_cosine>(family, "__cosf");
  add<SineAndCosine, sine_and_cosine_bound<float>, float, sine_and_cosine>(family, "sincosf");
  add<SineAndCosine, fast_sine_and_cosine_bound, float, fast_sine_and_cosine>(family, "__sincosf");
  add<Tangent, ulps<4>, float, tangent>(family, "tanf");
  add<Tangent, fast_tangent_bound, float, fast_tangent>(family, "__tanf");
  add<Exp, ulps<2>, float, natural_exp>(family, "expf");
  add<Exp, fast_exp_bound<1173>, float, fast_exp>(family, "__expf");
  add<Exp10, ulps<2>, float, exp_10>(family, "exp10f");
  add<Exp10, fast_exp_bound<2970>, float, fast_exp_10>(family, "__exp10f");
  add<Log, ulps<1>, float, natural_log>(family, "logf");
  add<Log, fast_log_bound<2141, 3>, float, fast_log>(family, "__logf");
  add<Log2, ulps<1>, float, log_2>(family, "log2f");
  add<Log2, fast_log_bound<2200, 2>, float, fast_log_2>(family, "__log2f");
  add<Log10, ulps<2>, float, log_10>(family, "log10f");
  add<Log10, fast_log_bound<2400, 3>, float, fast_log_10>(family, "__log10f");
  add<Power, ulps<4>, float, power>(family, "powf");
  add<Power, fast_power_bound, float, fast_power>(family, "__powf");
  add<Quotient, ulps<2>, float, fast_quotient>(family, "__fdividef");
  add<Sine, ulps<2>, double, sine>(family, "sin");
  add<Cosine, ulps<2>, double, cosine>(family, "cos");
  add<SineAndCosine, sine_and_cosine_bound<double>, double, sine_and_cosine>(family, "sincos");
  add<Tangent, ulps<2>, double, tangent>(family, "tan");
  add<Exp, ulps<1>, double, natural_exp>(family, "exp");
  add<Exp10, ulps<1>, double, exp_10>(family, "exp10");
  add<Log, ulps<1>, double, natural_log>(family, "log");
  add<Log2, ulps<1>, double, log_2>(family, "log2");
  add<Log10, ulps<1>, double, log_10>(family, "log10");
  add<Power, ulps<2>, double, power>(family, "pow");
}

}  // namespace math_accuracy
