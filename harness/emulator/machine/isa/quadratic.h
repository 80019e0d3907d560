// The interpolator of the multifunction unit: quadratics of 16 or 17 bits of the argument, with a
// truncated square (Oberman and Siu, "A High-Performance Area-Efficient Multifunction
// Interpolator", ARITH 2005).
#pragma once

#include <bit>
#include <cstddef>
#include <iterator>

#include "harness/emulator/machine/isa/floats.h"

#ifdef WARPGAUGE_ISA_avx512
#include <immintrin.h>
#endif

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

/// Coefficients of a segment, in units of kUnit.
struct Quadratic {
  s64 c0;
  s32 c1, c2;
};
inline constexpr float kUnit = 0x1p-42f;

/// The coefficients of all segments as floats, which are exact: c0 is the sum of two. kSegments is
/// a power of two.
template <std::size_t kSegments>
struct Columns {
  alignas(64) float high[kSegments] = {}, low[kSegments] = {}, c1[kSegments] = {},
                    c2[kSegments] = {};
};
template <std::size_t kRows>
constexpr Columns<std::bit_ceil(kRows)> columns(const Quadratic (&rows)[kRows]) {
  Columns<std::bit_ceil(kRows)> out;
  for (std::size_t i = 0; i < kRows; ++i) {
    const s64 low = rows[i].c0 & 0xfffff;
    out.high[i] = static_cast<float>(rows[i].c0 - low) * kUnit;
    out.low[i] = static_cast<float>(low) * kUnit;
    out.c1[i] = static_cast<float>(rows[i].c1) * kUnit;
    out.c2[i] = static_cast<float>(rows[i].c2) * kUnit;
  }
  return out;
}

/// out[lane] = column[index[lane] % kSize].
template <std::size_t kSize>
WARPGAUGE_INLINE void look_up(float* out, const float (&column)[kSize], const u32* index) {
#ifdef WARPGAUGE_ISA_avx512
  static_assert(kSize == 64 || kSize == 128);
  for (int lane = 0; lane < kLanes; lane += 16) {
    const __m512i at = _mm512_load_si512(index + lane);
    const auto of_32 = [&](std::size_t from) {
      return _mm512_permutex2var_ps(_mm512_load_ps(column + from), at,
                                    _mm512_load_ps(column + from + 16));
    };
    const auto of_64 = [&](std::size_t from) {
      const __mmask16 upper = _mm512_test_epi32_mask(at, _mm512_set1_epi32(32));
      return _mm512_mask_blend_ps(upper, of_32(from), of_32(from + 32));
    };
    __m512 found = of_64(0);
    if constexpr (kSize == 128) {
      const __mmask16 upper = _mm512_test_epi32_mask(at, _mm512_set1_epi32(64));
      found = _mm512_mask_blend_ps(upper, found, of_64(64));
    }
    _mm512_store_ps(out + lane, found);
  }
#else
  for (int lane = 0; lane < kLanes; ++lane) out[lane] = column[index[lane] % kSize];
#endif
}

/// The upper 15 bits of x * x, without the partial products below 2^17.
WARPGAUGE_INLINE u16 truncated_square(u16 x) {
  const u16 high = static_cast<u16>(x >> 8);
  u16 sum = static_cast<u16>(static_cast<u16>(high * high) >> 1);
  for (int bit = 1; bit < 8; ++bit) {
    const u16 all = static_cast<u16>(-(x >> bit & 1));
    sum = static_cast<u16>(sum + (all & x >> (16 - bit)));
  }
  return sum;
}

/// a * b + c, which is exact here, by whatever is fastest.
WARPGAUGE_INLINE double multiply_add(double a, double b, double c) {
#ifdef __FMA__
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

/// For the lanes of a warp, the sums of the segments that the bits of `place` above kBits name, at
/// those below. They are exact.
template <int kBits, std::size_t kSegments>
WARPGAUGE_INLINE void interpolate(double* sums, const Columns<kSegments>& table, const u32* place) {
  alignas(64) u32 segment[kLanes];
  alignas(64) s32 h[kLanes], square[kLanes];
  alignas(64) u16 upper[kLanes];
  alignas(64) float high[kLanes], low[kLanes], c1[kLanes], c2[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    segment[i] = place[i] >> kBits;
    h[i] = static_cast<s32>(place[i] & ((1 << kBits) - 1));
    upper[i] = static_cast<u16>(place[i] >> (kBits - 16));
  }
  for (int i = 0; i < kLanes; ++i) upper[i] = truncated_square(upper[i]);
  for (int i = 0; i < kLanes; ++i) square[i] = upper[i];
  look_up(high, table.high, segment);
  look_up(low, table.low, segment);
  look_up(c1, table.c1, segment);
  look_up(c2, table.c2, segment);
  for (int i = 0; i < kLanes; ++i) {
    const double c0 = static_cast<double>(high[i]) + static_cast<double>(low[i]);
    const double linear = multiply_add(c1[i], h[i], c0);
    sums[i] = multiply_add(c2[i], square[i], linear);
  }
}

/// The bits of a double that a float has.
inline constexpr u64 kOfFloat = ~u64{0x1fffffff};

/// A double as a float, towards zero; not for values beyond or below all normal floats.
WARPGAUGE_INLINE float truncated(double value) {
  return static_cast<float>(bits_as<double>(bits_as<u64>(value) & kOfFloat));
}

/// A positive double below 2^52 as a whole number, towards zero.
WARPGAUGE_INLINE double rounded_down(double value) {
  const double nearest = value + 0x1p52 - 0x1p52;
  return nearest - (nearest > value ? 1 : 0);
}

}  // namespace
}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
