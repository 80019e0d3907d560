// Accuracy and cost of mathematical functions: y[i] = f(x[i]), the x[i] evenly spread.
//
// What it teaches: what an intrinsic saves and what it loses.
// - A function of the library (sinf) takes tens of instructions and errs by few units in the last
//   place (ulps). In double sin and cos load their polynomial from global memory.
// - An intrinsic (__sinf) takes a handful. Its error is absolute, so that few bits are right next
//   to a zero (__sinf, __logf), or grows with the argument (__expf).
// - The suffixes _rn, _rz, _ru, _rd round one operation to nearest, to zero, up and down. The last
//   two enclose the exact result. All but _rn have twice its mean error.
// Among the facts are `instructions`, result.max_error, result.mean_absolute_error and
// result.mean_relative_error (the hardware's approximations are nearer to exact on the emulator
// than on a GPU). The check holds every result to the error bound that the CUDA C++ Programming
// Guide (appendix "Mathematical Functions") states for its argument.
#include <cmath>

#include "warpgauge/warpgauge.h"

namespace math_accuracy {

constexpr int kThreads = 256;
constexpr int kArguments = 360 * 32;  // for angles: steps of 1/32 degree
using Real = long double;             // of the reference
constexpr double kPi = 3.14159265358979323846;

// The arguments of f(x, y), from the index: no loads that would hide what f costs. The fused
// operations are written out, so that the CPU rounds as the GPU does. y takes the same steps as x
// in another order (91 has no factor in common with kArguments).
template <typename T>
struct Arguments {
  T x_first, x_step, y_first, y_step;
  __host__ __device__ T x(int i) const { return std::fma(T(i % kArguments), x_step, x_first); }
  __host__ __device__ T y(int i) const {
    return std::fma(T(i % kArguments * 91 % kArguments), y_step, y_first);
  }
};

// CPU reference: the exact results, and the intervals of the arguments.
struct Interval {
  double first, last;
};
struct Angles {
  static constexpr Interval kX = {-kPi, kPi}, kY = {};
};
struct BetweenPoles {
  static constexpr Interval kX = {-kPi / 3, kPi / 3}, kY = {};
};
struct Positive {
  static constexpr Interval kX = {0.01, 2 * kPi}, kY = {-kPi, kPi};
};
struct Operands {  // y is no divisor near zero
  static constexpr Interval kX = {-kPi, kPi}, kY = {1, 10};
};
Real both(Real x, Real) { return sinl(x) + cosl(x); }
Real added(Real x, Real y) { return x + y; }
Real multiplied(Real x, Real y) { return x * y; }
Real divided(Real x, Real y) { return x / y; }

template <typename Arguments, auto kFunction>
struct Reference : Arguments {
  static Real exact(Real x, Real y) {
    if constexpr (requires { kFunction(x, y); }) {
      return kFunction(x, y);
    } else {
      return kFunction(x);
    }
  }
};
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
using Sum = Reference<Operands, added>;
using Product = Reference<Operands, multiplied>;
using Quotient = Reference<Operands, divided>;
using Root = Reference<Positive, sqrtl>;

// Error bounds: how far a result may lie below and above the exact one, `ulp` being the distance of
// representable numbers there. Bounds in ulps are stated against the correctly rounded result,
// which is itself off by up to half an ulp.
struct Range {
  Real below, above;
};
using Bound = Range (*)(Real x, Real y, Real exact, Real ulp);

Range both_ways(Real error) { return {error, error}; }
Real power_of_two(double exponent) { return std::exp2(Real(exponent)); }

template <int kUlps>
Range ulps(Real, Real, Real, Real ulp) {
  return both_ways((kUlps + 0.5) * ulp);
}

template <int kCentiBits>
Range absolute(Real, Real, Real, Real) {
  return both_ways(power_of_two(-kCentiBits / 100.0));
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

enum class Rounding { kNearest, kToZero, kUp, kDown };

// As IEEE 754 asks: nothing representable lies between the exact result and the rounded one.
template <Rounding kMode>
Range rounded(Real, Real, Real exact, Real ulp) {
  if constexpr (kMode == Rounding::kNearest) return both_ways(ulp / 2);
  const bool up = kMode == Rounding::kUp || (kMode == Rounding::kToZero && exact < 0);
  return up ? Range{0, ulp} : Range{ulp, 0};
}

template <typename T>
Real ulp_of(Real exact) {
  int exponent = 0;
  std::frexp(exact, &exponent);
  return std::ldexp(Real(1), exponent - (sizeof(T) == 4 ? 24 : 53));
}

// A function F, approximated within a bound. The size is the number of arguments.
template <typename F, Bound kBound, typename T>
struct Evaluation : warpgauge::Problem {
  const int n;
  const Arguments<T> arguments;
  warpgauge::Output<T> results;

  explicit Evaluation(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])),
        arguments{T(F::kX.first), step(F::kX), T(F::kY.first), step(F::kY)},
        results(*this, n) {}
  static T step(Interval interval) { return T((interval.last - interval.first) / kArguments); }

  // The tolerance of close() is one number for all arguments, so it is asked for the errors only;
  // what each result exceeds its own bound by has to be zero. The reference errs in its last bits.
  void check(warpgauge::Comparison& comparison) const override {
    const std::vector<T> got = results.host();
    std::vector<Real> expected(n), excess(n);
    for (int i = 0; i < n; ++i) {
      const Real x = arguments.x(i), y = arguments.y(i), exact = F::exact(x, y);
      const Range range = kBound(x, y, exact, ulp_of<T>(exact));
      const Real error = got[i] - exact, slack = std::ldexp(std::fabs(exact), -62);
      expected[i] = exact;
      excess[i] = std::fmax(Real(0), std::fmax(error - range.above, -error - range.below) - slack);
    }
    comparison.close(got, expected, HUGE_VAL);
    comparison.equal(excess, std::vector<Real>(n));
  }
};

template <typename T>
using Function = T (*)(T x, T y);

template <typename T, Function<T> kFunction>
__global__ void evaluate(T* results, Arguments<T> arguments, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) results[i] = kFunction(arguments.x(i), arguments.y(i));
}

// The evaluated functions: those of the library,
__device__ float sine(float x, float) { return sinf(x); }
__device__ float cosine(float x, float) { return cosf(x); }
__device__ float tangent(float x, float) { return tanf(x); }
__device__ float natural_exp(float x, float) { return expf(x); }
__device__ float exp_10(float x, float) { return exp10f(x); }
__device__ float natural_log(float x, float) { return logf(x); }
__device__ float log_2(float x, float) { return log2f(x); }
__device__ float log_10(float x, float) { return log10f(x); }
__device__ float power(float x, float y) { return powf(x, y); }
__device__ double sine(double x, double) { return sin(x); }
__device__ double cosine(double x, double) { return cos(x); }
__device__ double tangent(double x, double) { return tan(x); }
__device__ double natural_exp(double x, double) { return exp(x); }
__device__ double natural_log(double x, double) { return log(x); }
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
__device__ float product(float x, float y) {
  return choose<kMode>(__fmul_rn(x, y), __fmul_rz(x, y), __fmul_ru(x, y), __fmul_rd(x, y));
}
template <Rounding kMode>
__device__ float quotient(float x, float y) {
  return choose<kMode>(__fdiv_rn(x, y), __fdiv_rz(x, y), __fdiv_ru(x, y), __fdiv_rd(x, y));
}
template <Rounding kMode>
__device__ float root(float x, float) {
  return choose<kMode>(__fsqrt_rn(x), __fsqrt_rz(x), __fsqrt_ru(x), __fsqrt_rd(x));
}
template <Rounding kMode>
__device__ double sum(double x, double y) {
  return choose<kMode>(__dadd_rn(x, y), __dadd_rz(x, y), __dadd_ru(x, y), __dadd_rd(x, y));
}
template <Rounding kMode>
__device__ double product(double x, double y) {
  return choose<kMode>(__dmul_rn(x, y), __dmul_rz(x, y), __dmul_ru(x, y), __dmul_rd(x, y));
}
template <Rounding kMode>
__device__ double quotient(double x, double y) {
  return choose<kMode>(__ddiv_rn(x, y), __ddiv_rz(x, y), __ddiv_ru(x, y), __ddiv_rd(x, y));
}
template <Rounding kMode>
__device__ double root(double x, double) {
  return choose<kMode>(__dsqrt_rn(x), __dsqrt_rz(x), __dsqrt_ru(x), __dsqrt_rd(x));
}

// The one way in which all of them become variants, named like the function that is called.
template <typename F, Bound kBound, typename T, Function<T> kFunction>
void add(const warpgauge::Family& family, const std::string& name,
         std::source_location where = std::source_location::current()) {
  const std::vector<warpgauge::Size> sizes = {{kArguments}, {1000}, warpgauge::large({1 << 22})};
  const std::string type = sizeof(T) == 4 ? "f32" : "f64";
  const auto launch = [](auto& p) {
    const int blocks = (p.n + kThreads - 1) / kThreads;
    evaluate<T, kFunction><<<blocks, kThreads>>>(p.results, p.arguments, p.n);
  };
  family.problem<Evaluation<F, kBound, T>>(type, sizes).variant(name, launch, where);
}

template <typename T, Rounding kMode>
void add_rounded(const warpgauge::Family& family, const std::string& mode) {
  const std::string prefix = sizeof(T) == 4 ? "__f" : "__d";
  add<Sum, rounded<kMode>, T, sum<kMode>>(family, prefix + "add_" + mode);
  add<Product, rounded<kMode>, T, product<kMode>>(family, prefix + "mul_" + mode);
  add<Quotient, rounded<kMode>, T, quotient<kMode>>(family, prefix + "div_" + mode);
  add<Root, rounded<kMode>, T, root<kMode>>(family, prefix + "sqrt_" + mode);
}

WARPGAUGE_FAMILY(math_accuracy) {
  add<Sine, ulps<2>, float, sine>(family, "sinf");
  add<Sine, absolute<2141>, float, fast_sine>(family, "__sinf");
  add<Cosine, ulps<2>, float, cosine>(family, "cosf");
  add<Cosine, absolute<2119>, float, fast_cosine>(family, "__cosf");
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
  add<Tangent, ulps<2>, double, tangent>(family, "tan");
  add<Exp, ulps<1>, double, natural_exp>(family, "exp");
  add<Log, ulps<1>, double, natural_log>(family, "log");
  add<Power, ulps<2>, double, power>(family, "pow");
  add_rounded<float, Rounding::kNearest>(family, "rn");
  add_rounded<float, Rounding::kToZero>(family, "rz");
  add_rounded<float, Rounding::kUp>(family, "ru");
  add_rounded<float, Rounding::kDown>(family, "rd");
  add_rounded<double, Rounding::kNearest>(family, "rn");
  add_rounded<double, Rounding::kToZero>(family, "rz");
  add_rounded<double, Rounding::kUp>(family, "ru");
  add_rounded<double, Rounding::kDown>(family, "rd");
}

}  // namespace math_accuracy
