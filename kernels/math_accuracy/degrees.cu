// The sine of whole degrees, sin((i % 360) * pi / 180), five times for floats.
//
// The rounding of the argument decides the error more than the sine does. `sinf_of_double` computes
// the argument with a pi that is a double, which makes all of it double arithmetic: one rounding is
// left, but the kernel for floats waits for the units for doubles, of which most GPUs have one for
// each 32 or 64 others. `sinf_of_float` has three roundings instead. `sinpif` takes its argument in
// half turns: one rounding, no double, and no pi to be wrong about.
#include <cmath>

#include "kernels/math_accuracy/evaluation.h"

namespace math_accuracy {

// CPU reference.
struct Degrees {
  static constexpr int kSteps = 360;
  static constexpr Interval kX = {0, 360}, kY = {};
};
constexpr Real kExactPi = 3.14159265358979323846264L;
Real radians(Real degrees) { return degrees * kExactPi / 180; }
Real sine_of_degrees(Real degrees) { return sinl(radians(degrees)); }
using SineOfDegrees = Reference<Degrees, sine_of_degrees>;

// An error of the argument is at most as large in the sine. Each of the roundings on the way to the
// argument changes it by up to half an epsilon of itself.
template <typename T, int kRoundings>
Real error_of_argument(Real degrees) {
  return kRoundings * radians(degrees) * ulp_of<T>(0.99L);
}

template <typename T, int kRoundings, int kUlps>
Range sine_bound(Real degrees, Real, Real exact, Real) {
  const Real of_argument = error_of_argument<T, kRoundings>(degrees);
  return both_ways(of_argument + (kUlps + 0.5) * ulp_of<T>(std::fabs(exact) + of_argument));
}

// The guide states 2^-21.41 for arguments up to pi, and "larger otherwise". The argument is scaled
// to turns first, so what that rounding costs doubles where the argument does.
Range fast_sine_bound(Real degrees, Real, Real, Real) {
  const Real of_sine = power_of_two(degrees <= 180 ? -21.41 : -20.41);
  return both_ways(error_of_argument<float, 3>(degrees) + of_sine);
}

__device__ double sin_of_double(double degrees, double) { return sin(degrees * kPi / 180); }
__device__ float sinf_of_double(float degrees, float) { return sinf(degrees * kPi / 180); }
__device__ float sinf_of_float(float degrees, float) { return sinf(degrees * float(kPi) / 180); }
__device__ float fast_sinf_of_float(float degrees, float) {
  return __sinf(degrees * float(kPi) / 180);
}
__device__ float sine_of_half_turns(float degrees, float) { return sinpif(degrees / 180); }

WARPGAUGE_FAMILY(math_accuracy) {
  add<SineOfDegrees, sine_bound<double, 3, 2>, double, sin_of_double>(family, "sin_of_double");
  add<SineOfDegrees, sine_bound<float, 1, 2>, float, sinf_of_double>(family, "sinf_of_double");
  add<SineOfDegrees, sine_bound<float, 3, 2>, float, sinf_of_float>(family, "sinf_of_float");
  add<SineOfDegrees, fast_sine_bound, float, fast_sinf_of_float>(family, "__sinf_of_float");
  add<SineOfDegrees, sine_bound<float, 1, 1>, float, sine_of_half_turns>(family, "sinpif");
}

}  // namespace math_accuracy
