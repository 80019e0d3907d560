// Shared by all parts of the family math_accuracy: arguments, exact results, error bounds, and the
// problem that holds a function to its bound.
#pragma once

#include <cmath>

#include "warpgauge/warpgauge.h"

namespace math_accuracy {

constexpr int kThreads = 256;
constexpr int kArguments = 360 * 32;  // for angles: steps of 1/32 degree
using Real = long double;             // of the reference
constexpr double kPi = 3.14159265358979323846;

// The arguments of f(x, y), from the index: no loads that would hide what f costs. The fused
// operations are written out, so that the CPU rounds as the GPU does. y takes the same steps as x
// in another order (91 has no factor in common with their number).
template <typename T, int kSteps>
struct Arguments {
  T x_first, x_step, y_first, y_step;
  __host__ __device__ T x(int i) const { return std::fma(T(i % kSteps), x_step, x_first); }
  __host__ __device__ T y(int i) const {
    return std::fma(T(i % kSteps * 91 % kSteps), y_step, y_first);
  }
};

// CPU reference: the exact results, and the arguments: steps from the first, without the last.
struct Interval {
  double first, last;
};
struct Angles {
  static constexpr int kSteps = kArguments;
  static constexpr Interval kX = {-kPi, kPi}, kY = {};
};
struct Positive {
  static constexpr int kSteps = kArguments;
  static constexpr Interval kX = {0.01, 2 * kPi}, kY = {-kPi, kPi};
};

struct Operands {  // y is no divisor near zero
  static constexpr int kSteps = kArguments;
  static constexpr Interval kX = {-kPi, kPi}, kY = {1, 10};
};
inline Real divided(Real x, Real y) { return x / y; }

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

// Error bounds: how far a result may lie below and above the exact one, `ulp` being the distance of
// representable numbers there. Bounds in ulps are stated against the correctly rounded result,
// which is itself off by up to half an ulp.
struct Range {
  Real below, above;
};
using Bound = Range (*)(Real x, Real y, Real exact, Real ulp);

inline Range both_ways(Real error) { return {error, error}; }
inline Real power_of_two(double exponent) { return std::exp2(Real(exponent)); }

template <int kUlps>
Range ulps(Real, Real, Real, Real ulp) {
  return both_ways((kUlps + 0.5) * ulp);
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
  const Arguments<T, F::kSteps> arguments;
  warpgauge::Output<T> results;

  explicit Evaluation(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])),
        arguments{T(F::kX.first), step(F::kX), T(F::kY.first), step(F::kY)},
        results(*this, n) {}
  static T step(Interval interval) { return T((interval.last - interval.first) / F::kSteps); }

  // The tolerance of close() is one number for all arguments. Here each result has a bound of its
  // own, and what it exceeds that by has to be zero. The reference errs in its last bits.
  void check(warpgauge::Comparison& comparison) const override {
    const std::vector<T> got = results.host();
    std::vector<Real> expected(n), excess(n);
    for (int i = 0; i < n; ++i) {
      const Real x = arguments.x(i), y = arguments.y(i), exact = F::exact(x, y);
      const Range range = kBound(x, y, exact, ulp_of<T>(exact));
      const Real error = got[i] == exact ? 0 : got[i] - exact;  // also of two infinities
      const Real slack = std::ldexp(std::fabs(exact), -62);
      expected[i] = exact;
      excess[i] = std::fmax(Real(0), std::fmax(error - range.above, -error - range.below) - slack);
      if (std::isnan(error)) excess[i] = HUGE_VAL;  // fmax() would pass it over
    }
    comparison.add_errors(got, expected);
    comparison.equal(excess, std::vector<Real>(n));
  }
};

template <typename T>
using Function = T (*)(T x, T y);

template <typename T, int kSteps, Function<T> kFunction>
__global__ void evaluate(T* results, Arguments<T, kSteps> arguments, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) results[i] = kFunction(arguments.x(i), arguments.y(i));
}

// The one way in which all of them become variants, named like the function that is called.
template <typename F, Bound kBound, typename T, Function<T> kFunction>
void add(const warpgauge::Family& family, warpgauge::Text name,
         std::source_location where = std::source_location::current()) {
  const std::vector<warpgauge::Size> sizes = {{kArguments}, {1000}, warpgauge::large({1 << 22})};
  const char* type = sizeof(T) == 4 ? "f32" : "f64";
  const auto launch = [](auto& p) {
    const int blocks = (p.n + kThreads - 1) / kThreads;
    evaluate<T, F::kSteps, kFunction><<<blocks, kThreads>>>(p.results, p.arguments, p.n);
  };
  family.problem<Evaluation<F, kBound, T>>(type, sizes)
      .sizes_between({1}, {1 << 22})
      .variant(name, launch, where);
}

}  // namespace math_accuracy
