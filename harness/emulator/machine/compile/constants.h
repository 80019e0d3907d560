// Constants that compiled code reads.
#pragma once

#include <array>
#include <cstdint>

namespace warpgauge::emulator::machine::compile {

struct alignas(64) Constants {
  // Orders of words for vpermi2d: words of two registers in turn, and the way back.
  std::array<std::uint32_t, 16> pairs_low, pairs_high, even, odd;
  std::uint64_t sign64, magnitude64;
  std::uint32_t nan, sign, magnitude, most, two_to_31, one, last_bit, width, half_nan;
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
  return c;
}

inline constexpr Constants kConstants = make_constants();

}  // namespace warpgauge::emulator::machine::compile
