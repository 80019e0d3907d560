// Formats of few bits, by their definition: the references of conversions and of half precision.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace warpgauge::emulator::machine {

/// 113 bits: sums and products of halves are exact.
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 Quad;
#else
typedef long double Quad;
#endif

struct SmallFormat {
  int exponent_bits, mantissa_bits;
  bool has_infinity = true, has_nan = true;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  std::uint32_t sign_bit() const { return 1u << (exponent_bits + mantissa_bits); }
  std::uint32_t infinity() const { return ((1u << exponent_bits) - 1) << mantissa_bits; }
  /// All ones but the sign: a NaN in every format that has one, else what one becomes.
  std::uint32_t nan() const { return sign_bit() - 1; }
  std::uint32_t largest() const {
    return has_infinity ? infinity() - 1 : has_nan ? nan() - 1 : nan();
  }
};
inline constexpr SmallFormat kF16{5, 10}, kBF16{8, 7}, kTF32{8, 10}, kF32{8, 23}, kE5M2{5, 2},
    kE4M3{4, 3, false}, kE2M1{2, 1, false, false}, kE2M3{2, 3, false, false},
    kE3M2{3, 2, false, false};

inline double value_of(const SmallFormat& format, std::uint64_t bits) {
  const int field =
      static_cast<int>(bits >> format.mantissa_bits & ((1 << format.exponent_bits) - 1));
  const double mantissa = static_cast<double>(bits & ((1u << format.mantissa_bits) - 1));
  const double sign = (bits & format.sign_bit()) != 0 ? -1 : 1;
  const std::uint32_t magnitude = static_cast<std::uint32_t>(bits) & format.nan();
  if (magnitude > format.largest()) {
    return magnitude == format.infinity() && format.has_infinity
               ? sign * std::numeric_limits<double>::infinity()
               : std::numeric_limits<double>::quiet_NaN();
  }
  if (field == 0) return sign * std::ldexp(mantissa, 1 - format.bias() - format.mantissa_bits);
  return sign * std::ldexp(mantissa + (1 << format.mantissa_bits),
                           field - format.bias() - format.mantissa_bits);
}
/// The value of `bits` with subnormal values as zeros.
inline double flushed_value_of(const SmallFormat& format, std::uint64_t bits) {
  const double value = value_of(format, bits);
  return std::fabs(value) < std::ldexp(1, 1 - format.bias()) ? std::copysign(0.0, value) : value;
}

/// Modes as PTX calls them.
enum class Mode { rn, rz, rm, rp, rna };

/// The bits of an exact value in the format: the definition, step by step.
inline std::uint32_t rounded(const SmallFormat& format, Quad exact, Mode mode,
                             bool saturate = false) {
  if (exact != exact) return format.nan();
  const bool negative = exact < 0 || (exact == 0 && std::signbit(static_cast<double>(exact)));
  const std::uint32_t sign = negative ? format.sign_bit() : 0;
  const Quad size = exact < 0 ? -exact : exact;
  if (size == 0) return sign;
  const bool infinite = size > static_cast<Quad>(std::numeric_limits<double>::max());
  // The spacing of the format's values around this one is 2^(exponent - mantissa bits).
  int exponent = 1 - format.bias();
  Quad power = 1;
  for (int n = 0; n < -exponent; ++n) power /= 2;
  while (!infinite && exponent < format.bias() + 2 && size >= 2 * power) {
    power *= 2;
    ++exponent;
  }
  Quad spacing = power;
  for (int n = 0; n < format.mantissa_bits; ++n) spacing /= 2;
  const Quad steps = size / spacing;
  if (!infinite && steps < 1 << 28) {
    std::uint64_t whole = static_cast<std::uint64_t>(steps);
    const Quad rest = steps - whole;
    switch (mode) {
      case Mode::rn:
        whole += rest > 0.5 || (rest == 0.5 && whole % 2 == 1);
        break;
      case Mode::rna:
        whole += rest >= 0.5;
        break;
      case Mode::rm:
        whole += negative && rest > 0;
        break;
      case Mode::rp:
        whole += !negative && rest > 0;
        break;
      case Mode::rz:
        break;
    }
    // `whole` counts the hidden bit, which belongs to the field of the exponent.
    const std::uint64_t field = static_cast<std::uint64_t>(exponent - (1 - format.bias()));
    const std::uint64_t bits = (field << format.mantissa_bits) + whole;
    if (bits <= format.largest()) return static_cast<std::uint32_t>(bits) | sign;
  }
  const bool away = mode == Mode::rn || mode == Mode::rna || (mode == Mode::rm && negative) ||
                    (mode == Mode::rp && !negative);
  if (saturate || !(away || infinite)) return format.largest() | sign;
  return format.infinity() | sign;
}

}  // namespace warpgauge::emulator::machine
