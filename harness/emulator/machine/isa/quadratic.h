// The interpolator of the multifunction unit: quadratics of 16 or 17 bits of the argument, with a
// truncated square (Oberman and Siu, "A High-Performance Area-Efficient Multifunction
// Interpolator", ARITH 2005).
#pragma once

#include <cstddef>

#include "harness/emulator/machine/isa/floats.h"
#include "harness/emulator/machine/isa/quadratic_columns.h"

#ifdef WARPGAUGE_ISA_avx512
#include <immintrin.h>
#endif

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

#ifdef WARPGAUGE_ISA_avx512
/// Numbers in memory, to be loaded into all lanes. The compiler does not see that they are known:
/// it would make each in a register and bring it to the lanes by the unit that permutes, of which
/// there is one.
template <typename T>
WARPGAUGE_INLINE const T& in_memory(const T& constant) {
  const T* address = &constant;
  __asm__("" : "+r"(address));
  return *address;
}
WARPGAUGE_INLINE __m512i in_all(u32 value) { return _mm512_set1_epi32(static_cast<int>(value)); }
#endif

/// out[lane] = column[index[lane] % kSize].
template <typename T, std::size_t kSize>
WARPGAUGE_INLINE void look_up(T* out, const T (&column)[kSize], const u32* index) {
  static_assert(sizeof(T) == 4);
#ifdef WARPGAUGE_ISA_avx512
  static_assert(kSize == 64 || kSize == 128);
  static constexpr u32 kUpperHalf[] = {32, 64};
  const auto& halves = in_memory(kUpperHalf);
  for (int lane = 0; lane < kLanes; lane += 16) {
    const __m512i at = _mm512_load_si512(index + lane);
    const auto of_32 = [&](std::size_t from) {
      return _mm512_permutex2var_epi32(_mm512_load_si512(column + from), at,
                                       _mm512_load_si512(column + from + 16));
    };
    const auto of_64 = [&](std::size_t from) {
      const __mmask16 upper = _mm512_test_epi32_mask(at, in_all(halves[0]));
      return _mm512_mask_blend_epi32(upper, of_32(from), of_32(from + 32));
    };
    __m512i found = of_64(0);
    if constexpr (kSize == 128) {
      const __mmask16 upper = _mm512_test_epi32_mask(at, in_all(halves[1]));
      found = _mm512_mask_blend_epi32(upper, found, of_64(64));
    }
    _mm512_store_si512(out + lane, found);
  }
#else
  for (int lane = 0; lane < kLanes; ++lane) out[lane] = column[index[lane] % kSize];
#endif
}

#ifdef WARPGAUGE_ISA_avx512
/// The upper 15 bits of the squares of 32 values, without the partial products below 2^17. Those of
/// a bit of the lower byte with the upper one come two bits at a time: they meet one bit with which
/// one of them has a product below 2^17, which carries nothing.
WARPGAUGE_INLINE __m512i truncated_squares(__m512i x) {
  static constexpr struct {
    u32 lower[4] = {0x00060006, 0x00180018, 0x00600060, 0x00800080};
    u32 upper[4] = {0xc000c000, 0xf000f000, 0xfc00fc00, 0xfe00fe00};
  } kPairs;
  const auto& pairs = in_memory(kPairs);
  const __m512i high = _mm512_srli_epi16(x, 8);
  __m512i sum = _mm512_srli_epi16(_mm512_mullo_epi16(high, high), 1);
  for (int i = 0; i < 4; ++i) {
    const __m512i lower = _mm512_and_si512(x, in_all(pairs.lower[i]));
    const __m512i upper = _mm512_and_si512(x, in_all(pairs.upper[i]));
    sum = _mm512_add_epi16(sum, _mm512_mulhi_epu16(lower, upper));
  }
  return sum;
}
/// truncated_squares() of values of 16 bits in words of 32.
WARPGAUGE_INLINE void truncated_squares(s32* out, const s32* x) {
  const __m512i packed =
      _mm512_packus_epi32(_mm512_load_si512(x), _mm512_load_si512(x + kLanes / 2));
  const __m512i squares = truncated_squares(packed), zero = _mm512_setzero_si512();
  _mm512_store_si512(out, _mm512_unpacklo_epi16(squares, zero));
  _mm512_store_si512(out + kLanes / 2, _mm512_unpackhi_epi16(squares, zero));
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
WARPGAUGE_INLINE void truncated_squares(s32* out, const s32* x) {
  alignas(64) u16 values[kLanes];
  for (int i = 0; i < kLanes; ++i) values[i] = static_cast<u16>(x[i]);
  for (int i = 0; i < kLanes; ++i) values[i] = truncated_square(values[i]);
  for (int i = 0; i < kLanes; ++i) out[i] = values[i];
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
    alignas(64) s32 upper[kLanes];
    for (int i = 0; i < kLanes; ++i) {
      segment[i] = place[i] >> kBits;
      h[i] = static_cast<s32>(place[i] & ((1 << kBits) - 1));
      upper[i] = h[i] >> (kBits - 16);
    }
    truncated_squares(square, upper);
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

/// The lower 32 bits of the same sums in the units of the table.
template <int kBits, std::size_t kSegments>
WARPGAUGE_INLINE void interpolate(u32* sums, const FixedColumns<kSegments>& table,
                                  const u32* place) {
  alignas(64) u32 c0[kLanes], c1_and_c2[kLanes];
  const Places<kBits> at(place);
  look_up(c0, table.c0, at.segment);
  look_up(c1_and_c2, table.c1_and_c2, at.segment);
  for (int i = 0; i < kLanes; ++i) {
    const u32 linear = (c1_and_c2[i] >> kBitsOfC2) * static_cast<u32>(at.h[i]);
    const u32 c2 = c1_and_c2[i] & ((1u << kBitsOfC2) - 1);
    const u32 quadratic = c2 * static_cast<u32>(at.square[i]);
    const u32 sum = table.c1_is_negative ? c0[i] - linear : c0[i] + linear;
    sums[i] = table.c2_is_negative ? sum - quadratic : sum + quadratic;
  }
}

/// The number nearest to `near` whose lower bits are those of `sum` above the kDropped lowest.
template <int kDropped>
WARPGAUGE_INLINE u32 completed(u32 near, u32 sum) {
  const u32 off = sum - (near << kDropped);
  return near + static_cast<u32>(static_cast<s32>(off) >> kDropped);
}

/// The bits of a double that a float has.
inline constexpr u64 kOfFloat = ~u64{0x1fffffff};

/// A double as a float, towards zero; not for values beyond or below all normal floats.
WARPGAUGE_INLINE float truncated(double value) {
  return static_cast<float>(bits_as<double>(bits_as<u64>(value) & kOfFloat));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
