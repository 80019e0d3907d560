// Functions of single-precision values, by series in double precision: right to about 2^-30, so
// that the result as a float is the nearest one or its neighbour. They vectorise.
#pragma once

#include "harness/emulator/machine/isa/floats.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

/// The nearest integer of a value below 2^51, as the low bits of a double and as a double.
struct Nearest {
  s64 integer;
  double value;
};
WARPGAUGE_INLINE Nearest nearest(double x) {
  // Adding 1.5 * 2^52 leaves no bits for a fraction.
  constexpr double kShift = 0x1.8p52;
  const double shifted = x + kShift;
  return {static_cast<s64>(bits_as<u64>(shifted) - bits_as<u64>(kShift)), shifted - kShift};
}

/// 2^x. The series of e^y for |y| <= ln 2 / 2, times a power of two.
WARPGAUGE_INLINE double exp2_of(double x) {
  constexpr double kLn2 = 0x1.62e42fefa39efp-1;
  // Beyond these, everything is 0 or infinite as a float.
  const double low = x < -200 ? -200 : x;
  const double bounded = low > 200 ? 200 : low;
  const Nearest power = nearest(bounded);
  const double y = (bounded - power.value) * kLn2;
  double sum = 1.0 / 40320;
  sum = sum * y + 1.0 / 5040;
  sum = sum * y + 1.0 / 720;
  sum = sum * y + 1.0 / 120;
  sum = sum * y + 1.0 / 24;
  sum = sum * y + 1.0 / 6;
  sum = sum * y + 0.5;
  sum = sum * y + 1;
  sum = sum * y + 1;
  const double result =
      bits_as<double>(bits_as<u64>(sum) + (static_cast<u64>(power.integer) << 52));
  return is_nan(x) ? x : result;
}

/// log2 x = e + 2 / ln 2 * artanh((m - 1) / (m + 1)), where x = 2^e m and m is around 1.
WARPGAUGE_INLINE double log2_of(double x) {
  constexpr double kTwoByLn2 = 0x1.71547652b82fep1;
  constexpr u64 kMantissa = 0xfffffffffffff;
  const u64 bits = bits_as<u64>(x);
  // The mantissa at which the exponent goes up: that of sqrt 2.
  const u64 carried = bits + (kMantissa + 1 - 0x6a09e667f3bcd);
  // The exponent as a double, by the bits of 2^52 + it.
  const double exponent = bits_as<double>(0x4330000000000000 | (carried >> 52)) - 0x1p52 - 1023;
  const double m = bits_as<double>((bits & kMantissa) | 0x3ff0000000000000) *
                   ((bits & kMantissa) >= 0x6a09e667f3bcd ? 0.5 : 1);
  const double s = (m - 1) / (m + 1), square = s * s;
  double sum = 1.0 / 13;
  sum = sum * square + 1.0 / 11;
  sum = sum * square + 1.0 / 9;
  sum = sum * square + 1.0 / 7;
  sum = sum * square + 1.0 / 5;
  sum = sum * square + 1.0 / 3;
  sum = sum * square + 1;
  const double result = exponent + s * kTwoByLn2 * sum;
  const double infinity = __builtin_inf();
  return x > 0 ? (x < infinity ? result : x) : x == 0 ? -infinity : __builtin_nan("");
}

/// sin(x + 2 pi turns). Like the hardware it counts x in turns; a value
/// beyond 2^50 turns has no fraction left.
WARPGAUGE_INLINE double sine_of(double x, double turns) {
  constexpr double kTwoPi = 0x1.921fb54442d18p2, kInverse = 0x1.45f306dc9c883p-3;
  const double wound = x * kInverse;
  const double bounded = __builtin_fabs(wound) < 0x1p50 ? wound : 0;
  const double all = bounded - nearest(bounded).value + turns;
  const double part = all - nearest(all).value;
  // Folded into the quarters around 0: sin(pi - y) = sin y.
  const double folded = part > 0.25 ? 0.5 - part : part < -0.25 ? -0.5 - part : part;
  const double y = folded * kTwoPi, square = y * y;
  double sum = 1.0 / 6227020800;
  sum = sum * square - 1.0 / 39916800;
  sum = sum * square + 1.0 / 362880;
  sum = sum * square - 1.0 / 5040;
  sum = sum * square + 1.0 / 120;
  sum = sum * square - 1.0 / 6;
  sum = sum * square + 1;
  // -0 keeps its sign; an infinite x has no sine.
  const double result = turns == 0 && x == 0 ? x : y * sum;
  return __builtin_fabs(x) < __builtin_inf() ? result : __builtin_nan("");
}

/// tanh x = (1 - t) / (1 + t), t = e^-2|x|. Where that cancels, tanh x is x.
WARPGAUGE_INLINE double tanh_of(double x) {
  constexpr double kMinusTwoByLn2 = -0x1.71547652b82fep1;
  const double size = __builtin_fabs(x);
  const double t = exp2_of(size * kMinusTwoByLn2);
  const double value = size < 0x1p-10 ? size : (1 - t) / (1 + t);
  return is_nan(x) ? x : __builtin_copysign(value, x);
}

}  // namespace
}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
