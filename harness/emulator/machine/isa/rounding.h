// Rounding to the precision of small formats and to integral values, without the host's rounding
// mode.
#pragma once

#include "harness/emulator/machine/isa/convert.h"
#include "harness/emulator/machine/isa/floats.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

/// What a format has beside finite numbers: without infinity the highest exponent is one of
/// numbers, and all ones is the only NaN, or the largest number.
enum class Specials : std::uint8_t { infinity_and_nan, nan, none };

/// A binary format: bits of exponent and mantissa; its bias is that of IEEE 754.
template <int kExponentBits, int kMantissaBits, Specials kSpecials = Specials::infinity_and_nan>
struct Format {
  static constexpr int kExponent = kExponentBits, kMantissa = kMantissaBits;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr u32 kInfinity = ((u32{1} << kExponentBits) - 1) << kMantissaBits;
  static constexpr u32 kNan = kInfinity | ((u32{1} << kMantissaBits) - 1);
  static constexpr u32 kSign = u32{1} << (kExponentBits + kMantissaBits);
  static constexpr u32 kLargest = kSpecials == Specials::none  ? kNan
                                  : kSpecials == Specials::nan ? kNan - 1
                                                               : kInfinity - 1;
};
using HalfFormat = Format<5, 10>;
using BFloatFormat = Format<8, 7>;
using Tf32Format = Format<8, 10>;
using E5M2Format = Format<5, 2>;
using E4M3Format = Format<4, 3, Specials::nan>;
using E2M1Format = Format<2, 1, Specials::none>;
using E2M3Format = Format<2, 3, Specials::none>;
using E3M2Format = Format<3, 2, Specials::none>;

/// The bits of a value in a smaller format, rounded once. `saturate`: what is beyond the largest
/// finite value becomes that. A NaN becomes the positive one that is all ones, which is the largest
/// number of formats without NaN.
template <typename To, ConvertRounding kRounding>
WARPGAUGE_INLINE u32 round_to(double value, bool saturate) {
  const u64 bits = bits_as<u64>(value);
  const bool negative = bits >> 63 != 0;
  const u64 magnitude = bits & 0x7fffffffffffffff;
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  // The significand loses bits so that the last one is the format's: more if that is subnormal.
  constexpr int kLowest = 1 - To::kBias;
  const int lost = 52 - To::kMantissa + (exponent < kLowest ? kLowest - exponent : 0);
  const int shift = lost < 60 ? lost : 60;
  const u64 significand = (magnitude & 0xfffffffffffff) | (magnitude >> 52 != 0 ? u64{1} << 52 : 0);
  const u64 kept = significand >> shift;
  const u64 rest = significand & ((u64{1} << shift) - 1);
  const u64 half = u64{1} << (shift - 1);
  bool up = false;
  switch (kRounding) {
    case ConvertRounding::rn:
      up = (rest > half) | ((rest == half) & ((kept & 1) != 0));
      break;
    case ConvertRounding::rna:
      up = rest >= half;
      break;
    case ConvertRounding::rm:
      up = negative & (rest != 0);
      break;
    case ConvertRounding::rp:
      up = !negative & (rest != 0);
      break;
    default:
      break;
  }
  // Above the subnormals the hidden bit adds one to the exponent's field.
  const u64 field = exponent > kLowest ? static_cast<u64>(exponent - kLowest) << To::kMantissa : 0;
  const u64 rounded = field + kept + (up ? 1 : 0);
  const bool away = kRounding == ConvertRounding::rn || kRounding == ConvertRounding::rna ||
                    (kRounding == ConvertRounding::rm && negative) ||
                    (kRounding == ConvertRounding::rp && !negative);
  const bool infinite = magnitude == 0x7ff0000000000000;
  const u32 beyond = saturate || !(away || infinite) ? To::kLargest : To::kInfinity;
  const u32 unsigned_result = rounded > To::kLargest ? beyond : static_cast<u32>(rounded);
  return magnitude > 0x7ff0000000000000 ? To::kNan : unsigned_result | (negative ? To::kSign : 0);
}

/// An integral value next to `value`.
template <ConvertRounding kRounding>
WARPGAUGE_INLINE float integral(float value) {
  switch (kRounding) {
    case ConvertRounding::rni:
      return __builtin_rintf(value);
    case ConvertRounding::rmi:
      return __builtin_floorf(value);
    case ConvertRounding::rpi:
      return __builtin_ceilf(value);
    default:
      return __builtin_truncf(value);
  }
}
template <ConvertRounding kRounding>
WARPGAUGE_INLINE double integral(double value) {
  switch (kRounding) {
    case ConvertRounding::rni:
      return __builtin_rint(value);
    case ConvertRounding::rmi:
      return __builtin_floor(value);
    case ConvertRounding::rpi:
      return __builtin_ceil(value);
    default:
      return __builtin_trunc(value);
  }
}

}  // namespace
}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
