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

/// The coefficients of all segments as integers: c0 is 2^32 high + low. kSegments is a power of
/// two.
template <std::size_t kSegments>
struct FixedColumns {
  alignas(64) u32 low[kSegments] = {}, c1_and_high[kSegments] = {}, c2[kSegments] = {};
};
inline constexpr int kHighBits = 11;
template <std::size_t kRows>
constexpr FixedColumns<std::bit_ceil(kRows)> fixed_columns(const Quadratic (&rows)[kRows]) {
  FixedColumns<std::bit_ceil(kRows)> out;
  for (std::size_t i = 0; i < kRows; ++i) {
    out.low[i] = static_cast<u32>(rows[i].c0);
    out.c1_and_high[i] =
        static_cast<u32>(rows[i].c1) << kHighBits | static_cast<u32>(rows[i].c0 >> 32);
    out.c2[i] = static_cast<u32>(rows[i].c2);
  }
  return out;
}

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
template <typename T, std::size_t kSize>
WARPGAUGE_INLINE void look_up(T* out, const T (&column)[kSize], const u32* index) {
  static_assert(sizeof(T) == 4);
#ifdef WARPGAUGE_ISA_avx512
  static_assert(kSize == 64 || kSize == 128);
  for (int lane = 0; lane < kLanes; lane += 16) {
    const __m512i at = _mm512_load_si512(index + lane);
    const auto of_32 = [&](std::size_t from) {
      return _mm512_permutex2var_epi32(_mm512_load_si512(column + from), at,
                                       _mm512_load_si512(column + from + 16));
    };
    const auto of_64 = [&](std::size_t from) {
      const __mmask16 upper = _mm512_test_epi32_mask(at, _mm512_set1_epi32(32));
      return _mm512_mask_blend_epi32(upper, of_32(from), of_32(from + 32));
    };
    __m512i found = of_64(0);
    if constexpr (kSize == 128) {
      const __mmask16 upper = _mm512_test_epi32_mask(at, _mm512_set1_epi32(64));
      found = _mm512_mask_blend_epi32(upper, found, of_64(64));
    }
    _mm512_store_si512(out + lane, found);
  }
#else
  for (int lane = 0; lane < kLanes; ++lane) out[lane] = column[index[lane] % kSize];
#endif
}

#ifdef WARPGAUGE_ISA_avx512
/// The upper 15 bits of the squares of 32 values, without the partial products below 2^17.
WARPGAUGE_INLINE __m512i truncated_squares(__m512i x) {
  const __m512i high = _mm512_srli_epi16(x, 8);
  __m512i sum = _mm512_srli_epi16(_mm512_mullo_epi16(high, high), 1);
  for (unsigned bit = 1; bit < 8; ++bit) {
    const __mmask32 on = _mm512_test_epi16_mask(x, _mm512_set1_epi16(static_cast<short>(1 << bit)));
    sum = _mm512_mask_add_epi16(sum, on, sum, _mm512_srli_epi16(x, 16 - bit));
  }
  return sum;
}
#else
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
#endif

/// a * b + c, which is exact here, by whatever is fastest.
WARPGAUGE_INLINE double multiply_add(double a, double b, double c) {
#ifdef __FMA__
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

/// For the lanes of a warp: the segment that the bits of `place` above kBits name, the place in it,
/// and its truncated square.
template <int kBits>
struct Places {
  alignas(64) u32 segment[kLanes];
  alignas(64) s32 h[kLanes], square[kLanes];
  WARPGAUGE_INLINE explicit Places(const u32* place) {
    alignas(64) u16 upper[kLanes];
    for (int i = 0; i < kLanes; ++i) {
      segment[i] = place[i] >> kBits;
      h[i] = static_cast<s32>(place[i] & ((1 << kBits) - 1));
      upper[i] = static_cast<u16>(place[i] >> (kBits - 16));
    }
#ifdef WARPGAUGE_ISA_avx512
    _mm512_store_si512(upper, truncated_squares(_mm512_load_si512(upper)));
#else
    for (int i = 0; i < kLanes; ++i) upper[i] = truncated_square(upper[i]);
#endif
    for (int i = 0; i < kLanes; ++i) square[i] = upper[i];
  }
};

/// The sums of the segments at the places. They are exact.
template <int kBits, std::size_t kSegments>
WARPGAUGE_INLINE void interpolate(double* sums, const Columns<kSegments>& table, const u32* place) {
  alignas(64) float high[kLanes], low[kLanes], c1[kLanes], c2[kLanes];
  const Places<kBits> at(place);
  look_up(high, table.high, at.segment);
  look_up(low, table.low, at.segment);
  look_up(c1, table.c1, at.segment);
  look_up(c2, table.c2, at.segment);
  for (int i = 0; i < kLanes; ++i) {
    const double c0 = static_cast<double>(high[i]) + static_cast<double>(low[i]);
    const double linear = multiply_add(c1[i], at.h[i], c0);
    sums[i] = multiply_add(c2[i], at.square[i], linear);
  }
}

/// The same sums in units of 2^kDropped kUnit, rounded down, for those of at most 24 bits then. The
/// lower bits come from the sum of the lower 32 bits, the others from a guess without the square,
/// which is off by less than half of what the lower bits can tell apart.
template <int kBits, int kDropped, std::size_t kSegments>
WARPGAUGE_INLINE void interpolate(float* values, const FixedColumns<kSegments>& table,
                                  const u32* place) {
  constexpr int kOfC1 = 8, kOfH = 2;  // bits that the guess leaves out
  constexpr float kUnitOfValue = kUnit * (1 << kDropped);
  alignas(64) u32 low[kLanes], c1_and_high[kLanes], c2[kLanes];
  const Places<kBits> at(place);
  look_up(low, table.low, at.segment);
  look_up(c1_and_high, table.c1_and_high, at.segment);
  look_up(c2, table.c2, at.segment);
  for (int i = 0; i < kLanes; ++i) {
    const s32 c1 = static_cast<s32>(c1_and_high[i]) >> kHighBits;
    const u32 high = c1_and_high[i] & ((1 << kHighBits) - 1);
    const u32 h = static_cast<u32>(at.h[i]), square = static_cast<u32>(at.square[i]);
    const u32 sum = low[i] + static_cast<u32>(c1) * h + c2[i] * square;
    const s32 linear = (c1 >> kOfC1) * (at.h[i] >> kOfH) >> (kDropped - kOfC1 - kOfH);
    const u32 c0 = (high << (32 - kDropped)) + (low[i] >> kDropped);
    const u32 guess = c0 + static_cast<u32>(linear);
    const u32 off = ((sum >> kDropped) - guess) << kDropped;
    const s32 value = static_cast<s32>(guess) + (static_cast<s32>(off) >> kDropped);
    values[i] = static_cast<float>(value) * kUnitOfValue;
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
