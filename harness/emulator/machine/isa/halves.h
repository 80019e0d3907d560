// Arithmetic with half precision: exact values as float or double, rounded once.
#pragma once

#include "harness/emulator/machine/isa/floats.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

/// The half nearest to a value. The host's rounding mode must be to nearest.
WARPGAUGE_INLINE Half round_to_half(float value) {
  const u32 bits = bits_as<u32>(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  // Next to 0.5 a float's last bit is worth as much as that of a subnormal half.
  const u32 tiny = bits_as<u32>(bits_as<float>(magnitude) + 0.5f) - bits_as<u32>(0.5f);
  const u32 even = magnitude >> 13 & 1;
  const u32 normal = (magnitude - (112u << 23) + 0xfff + even) >> 13;
  const u32 number = magnitude < 0x38800000 ? tiny : magnitude < 0x47800000 ? normal : 0x7c00;
  return {static_cast<u16>(magnitude > 0x7f800000 ? u32{kHalfNanBits} : number | sign)};
}
WARPGAUGE_INLINE BFloat round_to_bfloat(float value) {
  const u32 bits = bits_as<u32>(value);
  const u32 rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return {static_cast<u16>((bits & 0x7fffffff) > 0x7f800000 ? u32{kHalfNanBits} : rounded)};
}

template <typename T>
WARPGAUGE_INLINE T round_to_small(float value) {
  if constexpr (kSame<T, Half>) {
    return round_to_half(value);
  } else {
    return round_to_bfloat(value);
  }
}

/// A value cut off after the bits of f16 or bf16. Not for floats that are subnormal.
template <typename T>
WARPGAUGE_INLINE T truncate_to_small(float value) {
  const u32 bits = bits_as<u32>(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  const bool is_nan = magnitude > 0x7f800000;
  if constexpr (kSame<T, Half>) {
    const u32 tiny = static_cast<u32>(static_cast<s32>(bits_as<float>(magnitude) * 0x1p24f));
    const u32 normal = (magnitude - (112u << 23)) >> 13;
    const u32 number = magnitude < 0x38800000 ? tiny : magnitude < 0x47800000 ? normal : 0x7c00;
    return {static_cast<u16>(is_nan ? u32{kHalfNanBits} : number | sign)};
  } else {
    return {static_cast<u16>(is_nan ? u32{kHalfNanBits} : bits >> 16)};
  }
}

/// The values of the formats of 8 bits, all of which are halves. An e5m2 is the upper byte of one.
WARPGAUGE_INLINE u16 half_of_e5m2(u8 byte) {
  return (byte & 0x7f) > 0x7c ? kHalfNanBits : static_cast<u16>(byte << 8);
}
/// An e4m3 has three bits of mantissa, and an exponent whose bias is 8 less than a half's.
WARPGAUGE_INLINE u16 half_of_e4m3(u8 byte) {
  const u32 magnitude = byte & 0x7f;
  const u32 tiny = round_to_half(static_cast<float>(static_cast<s32>(magnitude)) * 0x1p-9f).bits;
  const u32 number = (magnitude < 8 ? tiny : (magnitude << 7) + (8u << 10)) | (byte & 0x80u) << 8;
  return static_cast<u16>(magnitude == 0x7f ? u32{kHalfNanBits} : number);
}

/// A format without infinity and NaN has fewer bits of both kinds than a half, whose bits it is but
/// for the bias.
template <typename Format>
WARPGAUGE_INLINE u16 half_of(u32 bits) {
  const Half unbiased{static_cast<u16>((bits & (Format::kSign - 1)) << (10 - Format::kMantissa))};
  const float value = widen(unbiased) * static_cast<float>(1 << (15 - Format::kBias));
  return static_cast<u16>(round_to_half(value).bits | ((bits & Format::kSign) != 0 ? 0x8000 : 0));
}

/// A double as a float that a later rounding to half precision cannot go wrong with: inexact ones
/// become odd, so that they never look like a tie.
WARPGAUGE_INLINE float to_odd(double value) {
  const float nearest = static_cast<float>(value);
  const bool above = __builtin_fabs(static_cast<double>(nearest)) > __builtin_fabs(value);
  const bool inexact = static_cast<double>(nearest) != value;
  return bits_as<float>((bits_as<u32>(nearest) - (above ? 1 : 0)) | (inexact ? 1 : 0));
}

/// a * b + c of half precision: the product is exact as a double, the sum is made odd where it is
/// not (its error is known exactly), and so are its bits beyond a float's.
WARPGAUGE_INLINE float fused_to_odd(float a, float b, float c) {
  const double product = static_cast<double>(a) * b, addend = c;
  const double sum = product + addend;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (addend - part);
  const bool inexact = (error > 0) | (error < 0);
  const bool above = ((error < 0) & (sum > 0)) | ((error > 0) & (sum < 0));
  const u64 bits = (bits_as<u64>(sum) - (above ? 1 : 0)) | (inexact ? 1 : 0);
  return to_odd(bits_as<double>(bits));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
