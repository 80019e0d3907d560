// Values of numbers of 4, 6 and 8 bits, and of the scales of blocks of them. For the files of this
// folder only.
#pragma once

#include "harness/emulator/machine/isa/halves.h"
#include "harness/emulator/machine/isa/lanes.h"
#include "harness/emulator/machine/isa/matrix.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

/// The value of a number in a format without infinity and NaN. A fraction of 0 exponent is worth as
/// much as that of 1.
template <int kExponentBits, int kFractionBits>
double small_value(u32 bits) {
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  constexpr double kLeast = 2.0 / (1 << (kBias + kFractionBits));
  const u32 exponent = bits >> kFractionBits & ((1u << kExponentBits) - 1);
  const u32 fraction = bits & ((1u << kFractionBits) - 1);
  const u32 whole = exponent == 0 ? fraction : (fraction + (1u << kFractionBits)) << (exponent - 1);
  const bool negative = (bits >> (kExponentBits + kFractionBits) & 1) != 0;
  return (negative ? -kLeast : kLeast) * whole;
}

inline double value_of_e4m3(u32 bits) { return widen(Half{half_of_e4m3(static_cast<u8>(bits))}); }

/// The value of the element in the lowest bits; those above it are ignored.
inline double narrow_value(MatrixElement element, u32 bits) {
  constexpr int kUnusedBits = 2;  // below an e2m1 that has a byte of its own
  switch (element) {
    case MatrixElement::e4m3:
      return value_of_e4m3(bits);
    case MatrixElement::e5m2:
      return widen(Half{half_of_e5m2(static_cast<u8>(bits))});
    case MatrixElement::e2m3:
      return small_value<2, 3>(bits);
    case MatrixElement::e3m2:
      return small_value<3, 2>(bits);
    case MatrixElement::e2m1_in_byte:
      return small_value<2, 1>(bits >> kUnusedBits);
    default:
      return small_value<2, 1>(bits);
  }
}

/// A scale in the format ue4m3, which has no sign.
inline double value_of_ue4m3(u32 byte) { return value_of_e4m3(byte & 0x7f); }

/// A scale in the format ue8m0: the exponent of a float alone. 0xff is NaN.
inline double value_of_ue8m0(u32 byte) {
  constexpr int kBias = 127, kBiasOfDouble = 1023, kFractionBitsOfDouble = 52;
  if (byte == 0xff) return bits_as<float>(u32{kNanBits});
  return bits_as<double>(u64{byte + kBiasOfDouble - kBias} << kFractionBitsOfDouble);
}

}  // namespace
}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
