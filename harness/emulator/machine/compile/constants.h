// Constants that compiled code reads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "harness/emulator/machine/isa/near_functions.h"

namespace warpgauge::emulator::machine::compile {

struct alignas(64) Constants {
  // Orders of words for vpermi2d: words of two registers in turn, and the way back.
  std::array<std::uint32_t, 16> pairs_low, pairs_high, even, odd;
  std::uint64_t sign64, magnitude64;
  std::uint32_t nan, sign, magnitude, most, two_to_31, one, last_bit, width, half_nan;

  // The tables of the approximate functions.
  alignas(64) decltype(isa::kNearReciprocal) reciprocal = isa::kNearReciprocal;
  decltype(isa::kNearInverseRoot) inverse_root = isa::kNearInverseRoot;
  decltype(isa::kNearRoot) root = isa::kNearRoot;
  decltype(isa::kNearExponential) exponential = isa::kNearExponential;
  alignas(64) std::array<std::uint8_t, 64> lower_half_twice{};  // for vpshufb
  std::array<std::uint16_t, 32> ones_of_16{};
  // Pairs of bits, in each half of a word: isa/quadratic.h, truncated_squares.
  std::uint32_t lower_pairs[2] = {0x00180006, 0x00800060};
  std::uint32_t upper_pairs[2] = {0xf000c000, 0xfe00fc00};
  std::uint32_t counted[3] = {1, 2, 3};
  std::uint32_t lower_16 = 0xffff, lower_17 = 0x1ffff, bits_of_c2 = (1 << isa::kBitsOfC2) - 1;
  std::uint32_t upper_half_of_64 = 32 << isa::kNearExponential.bits;
  std::uint32_t less_at_one = 1 << isa::kNearInverseRoot.dropped;
  std::uint32_t least_normal = 0x00800000, significand = 0x007fffff, two_binades = 0x00ffffff;
  std::uint32_t infinity = 0x7f800000, two_to_126 = 0x7e800000;
  float two_to_23 = 0x1p23f, two_to_24 = 0x1p24f, two_to_12 = 0x1p12f, two_to_minus_12 = 0x1p-12f;
  float quarter = 0.25f, one_half = 0.5f, minus_126 = -126, minus_127 = -127, plus_128 = 128;
  float near_2 = 0.344f, near_1 = -0.03696f, near_0 = 0.69543f;  // 2^(x - 1) in [1, 2)
  // For vfixupimmps, what becomes of, from the right: NaNs (two kinds), 0, 1, infinities (negative,
  // positive), and other values. 0: as it is, 1: the argument, 2: a NaN, 3: NaN, 5: infinity,
  // 6: infinity with its sign, 7: -0, 8: 0.
  std::uint32_t nan_of_nan = 0x00000022, inverse_of_special = 0x00870622;
  std::uint32_t inverse_root_of_special = 0x03830622, root_of_special = 0x03530122;
};

constexpr Constants make_constants() {
  Constants c{};
  for (std::uint32_t n = 0; n < 16; ++n) {
    c.pairs_low[n] = n / 2 + (n % 2 != 0 ? 16 : 0);
    c.pairs_high[n] = 8 + n / 2 + (n % 2 != 0 ? 16 : 0);
    c.even[n] = 2 * n;
    c.odd[n] = 2 * n + 1;
  }
  c.sign64 = std::uint64_t{1} << 63;
  c.magnitude64 = ~c.sign64;
  c.nan = 0x7fffffff;
  c.sign = 0x80000000;
  c.magnitude = 0x7fffffff;
  c.most = 0x7fffffff;
  c.two_to_31 = 0x4f000000;  // as f32
  c.one = 0x3f800000;        // as f32
  c.last_bit = 31;
  c.width = 32;
  c.half_nan = 0x7fff7fff;  // two of 16 bits
  for (std::uint32_t n = 0; n < 64; ++n) {
    c.lower_half_twice[n] = static_cast<std::uint8_t>(n / 4 * 4 % 16 + n % 2);
  }
  c.ones_of_16.fill(1);
  return c;
}

inline constexpr Constants kConstants = make_constants();

/// The offset of a constant in Constants.
template <typename T>
std::size_t offset_of(T Constants::*constant) {
  const auto* const begin = reinterpret_cast<const std::byte*>(&kConstants);
  return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&(kConstants.*constant)) -
                                  begin);
}

}  // namespace warpgauge::emulator::machine::compile
