// The functions of the multifunction unit (MUFU), equal to those of an H100 for every argument.
// Subnormal arguments and results are zeros.
//
// Each function has the `place` of an argument in its table and the `result`, which knows the
// special cases; arguments in kOrdinary are none. Results of some functions lie `near` numbers of
// the host; the others have the `value` that a sum stands for.
#pragma once

#include "harness/emulator/machine/isa/near_functions.h"
#include "harness/emulator/machine/isa/quadratic.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

inline constexpr u32 kSignBit = 0x80000000, kInfinityBits = 0x7f800000, kSignificand = 0x7fffff;
inline constexpr u32 kOne = 0x3f800000, kLeastNormal = 0x00800000;

WARPGAUGE_INLINE u32 select(bool first, u32 a, u32 b) {
#ifdef WARPGAUGE_ISA_avx512  // has masks for it
  return first ? a : b;
#else
  const u32 mask = 0 - u32{first};
  return (a & mask) | (b & ~mask);
#endif
}
WARPGAUGE_INLINE u32 size_of(float x) { return bits_as<u32>(x) & ~kSignBit; }
WARPGAUGE_INLINE u32 sign_of(float x) { return bits_as<u32>(x) & kSignBit; }
WARPGAUGE_INLINE s32 exponent_of(float x) { return static_cast<s32>(size_of(x) >> 23) - 127; }

/// A positive float times a power of two: less than the smallest normal number is 0.
WARPGAUGE_INLINE u32 scaled(float value, s32 exponent) {
  const s32 bits = static_cast<s32>(bits_as<u32>(value)) + exponent * s32{kLeastNormal};
  return select(bits < s32{kLeastNormal}, 0, static_cast<u32>(bits));
}

/// Floats of which these bits are in [first, first + span].
struct Range {
  u32 bits, first, span;
};
WARPGAUGE_INLINE bool all_in(const Range& range, const float* x) {
#ifdef WARPGAUGE_ISA_avx512
  const Range& known = in_memory(range);
  const auto outside = [&](int lane) {
    const __m512i kept = _mm512_and_si512(_mm512_load_si512(x + lane), in_all(known.bits));
    return _mm512_cmpgt_epu32_mask(_mm512_sub_epi32(kept, in_all(known.first)), in_all(known.span));
  };
  return _kortestz_mask16_u8(outside(0), outside(16)) != 0;
#else
  u32 outside = 0;
  for (int i = 0; i < kLanes; ++i) {
    outside |= (bits_as<u32>(x[i]) & range.bits) - range.first <= range.span ? 0 : 1;
  }
  return outside == 0;
#endif
}

inline constexpr Range kPositive = {~u32{0}, kLeastNormal, kInfinityBits - kLeastNormal - 1};

// Reciprocals and roots with a relative error below 2^-13.
#ifdef WARPGAUGE_ISA_avx512  // with masks, because GCC 12 warns about the forms without
WARPGAUGE_INLINE void near_reciprocals(float* out, const float* x) {
  for (int i = 0; i < kLanes; i += 16) {
    _mm512_store_ps(out + i, _mm512_maskz_rcp14_ps(0xffff, _mm512_load_ps(x + i)));
  }
}
WARPGAUGE_INLINE void near_inverse_roots(float* out, const float* x) {
  for (int i = 0; i < kLanes; i += 16) {
    _mm512_store_ps(out + i, _mm512_maskz_rsqrt14_ps(0xffff, _mm512_load_ps(x + i)));
  }
}
WARPGAUGE_INLINE void near_roots(float* out, const float* x) {
  near_inverse_roots(out, x);
  for (int i = 0; i < kLanes; ++i) out[i] *= x[i];
}
#else
WARPGAUGE_INLINE void near_reciprocals(float* out, const float* x) {
  for (int i = 0; i < kLanes; ++i) out[i] = 1.0f / x[i];
}
WARPGAUGE_INLINE void near_roots(float* out, const float* x) {
  for (int i = 0; i < kLanes; ++i) out[i] = __builtin_sqrtf(x[i]);
}
WARPGAUGE_INLINE void near_inverse_roots(float* out, const float* x) {
  for (int i = 0; i < kLanes; ++i) out[i] = 1.0f / __builtin_sqrtf(x[i]);
}
#endif

struct Reciprocal {
  static constexpr const auto& kNear = kNearReciprocal;
  static constexpr Range kOrdinary = {~kSignBit, kLeastNormal, 252 * kLeastNormal};  // to 2^126
  WARPGAUGE_INLINE static u32 place(float x) { return bits_as<u32>(x) & kSignificand; }
  WARPGAUGE_INLINE static void near(float* out, const float* x, const u32*) {
    near_reciprocals(out, x);
  }
  WARPGAUGE_INLINE static float result(float x, u32, float value) {
    const u32 size = size_of(x), number = scaled(value, -exponent_of(x));
    const u32 finite = select(size < kLeastNormal, kInfinityBits, number);
    const u32 result = sign_of(x) | select(size == kInfinityBits, 0, finite);
    return bits_as<float>(select(size > kInfinityBits, kNanBits, result));
  }
};

struct Roots {
  static constexpr Range kOrdinary = kPositive;
  WARPGAUGE_INLINE static u32 place(float x) { return (bits_as<u32>(x) & 0xffffff) ^ kLeastNormal; }
};
struct InverseRoot : Roots {
  static constexpr const auto& kNear = kNearInverseRoot;
  static constexpr bool kLessAtOne = true;
  WARPGAUGE_INLINE static void near(float* out, const float* x, const u32*) {
    near_inverse_roots(out, x);
  }
  WARPGAUGE_INLINE static float result(float x, u32, float value) {
    const u32 bits = bits_as<u32>(x), number = scaled(value, -(exponent_of(x) >> 1));
    const u32 positive = select(bits == kInfinityBits, 0, number);
    const u32 result = select(bits > kInfinityBits, kNanBits, positive);
    return bits_as<float>(select(size_of(x) < kLeastNormal, sign_of(x) | kInfinityBits, result));
  }
};
struct SquareRoot : Roots {
  static constexpr const auto& kNear = kNearRoot;
  WARPGAUGE_INLINE static void near(float* out, const float* x, const u32*) { near_roots(out, x); }
  WARPGAUGE_INLINE static float result(float x, u32, float value) {
    const u32 bits = bits_as<u32>(x), number = scaled(value, exponent_of(x) >> 1);
    const u32 positive = select(bits == kInfinityBits, bits, number);
    const u32 result = select(bits > kInfinityBits, kNanBits, positive);
    return bits_as<float>(select(size_of(x) < kLeastNormal, sign_of(x), result));
  }
};

struct Exponential {
  static constexpr const auto& kNear = kNearExponential;
  static constexpr Range kOrdinary = {~kSignBit, 0, 0x42fc0000};  // to 126
  WARPGAUGE_INLINE static u32 place(float x) {
    const float low = x > -127.0f ? x : -127.0f;
    const float bounded = low < 128.0f ? low : 128.0f;
    const s32 towards_zero = static_cast<s32>(bounded * 0x1p23f);
    // Negative is the complement, but for whole numbers.
    const s32 below = towards_zero >> 31 & 1;
    const s32 inexact = -(towards_zero & s32{kSignificand}) >> 31 & 1;
    return static_cast<u32>(towards_zero - (below & inexact));
  }
  WARPGAUGE_INLINE static void near(float* out, const float*, const u32* place) {
    for (int i = 0; i < kLanes; ++i) {
      const float x = bits_as<float>(kOne | (place[i] & kSignificand));
      const float y = (0.344f * x - 0.03696f) * x + 0.69543f;  // off by less than 2^-8.6
      out[i] = bits_as<float>(bits_as<u32>(y) + (place[i] & ~kSignificand));
    }
  }
  WARPGAUGE_INLINE static float result(float x, u32 place, float value) {
    const u32 number = scaled(value, static_cast<s32>(place) >> 23);
    const u32 finite = select(x < 128.0f, number, kInfinityBits);
    return bits_as<float>(select(is_nan(x), kNanBits, finite));
  }
};

/// The sums are in units of 2^-38.
struct Logarithm {
  static constexpr int kBits = 17;
  static constexpr auto kTable = fixed_columns(kLg2Table);
  static_assert(kTable.shift == 42 - 38);
  static constexpr Range kOrdinary = kPositive;
  WARPGAUGE_INLINE static u32 place(float x) { return bits_as<u32>(x) & kSignificand; }
  WARPGAUGE_INLINE static float value(float x, u32 place, u32 sum) {
    const float y = bits_as<float>(kOne | place);
    const float near = (-0.34485f * y + 2.02467f) * y - 1.67488f;  // off by less than 2^-7.6
    const s32 near_parts = static_cast<s32>(near * 1024);
    const s32 rest = static_cast<s32>(sum - (static_cast<u32>(near_parts) << 28));
    // 36 bits of fraction. A negative result is the complement.
    const s32 exponent = exponent_of(x), complement = exponent >> 31 & 1;
    const double result =
        multiply_add(exponent * 1024 + near_parts, 0x1p26, (rest >> 2) + complement);
    return bits_as<u32>(x) == kOne ? 0 : truncated(result) * 0x1p-36f;
  }
  WARPGAUGE_INLINE static float result(float x, u32, float value) {
    const u32 bits = bits_as<u32>(x);
    const u32 positive = select(bits == kInfinityBits, bits, bits_as<u32>(value));
    const u32 result = select(bits > kInfinityBits, kNanBits, positive);
    return bits_as<float>(select(size_of(x) < kLeastNormal, kSignBit | kInfinityBits, result));
  }
};

/// Sine and cosine. The argument is x / (2 pi), with 25 bits of fraction: two say which quarter of
/// a turn it is, the others where in it. The cosine is the sine a quarter later.
template <bool kCosine>
struct Sine {
  static constexpr int kBits = 17;
  static constexpr auto kTable = columns(kSinTable);
  WARPGAUGE_INLINE static u32 place(float x) {
    constexpr double kInverse = 0.15915494f;  // 1 / (2 pi) as a float
    const double product = __builtin_fabs(static_cast<double>(x)) * kInverse;
    const double turns = bits_as<double>(bits_as<u64>(product) & kOfFloat);
    const double bounded = turns < 0x1p24 ? turns : 0;
    const double fraction = bounded - static_cast<double>(static_cast<s32>(bounded));
    const u32 parts = static_cast<u32>(static_cast<s32>(fraction * 0x1p25));
    const u32 angle = parts + (kCosine ? 1 << 23 : 0);
    // The second and the fourth quarter are complements of the first.
    const u32 part = (angle ^ (0 - (angle >> 23 & 1))) & kSignificand;
    const u32 sign = ((angle << 7) ^ (kCosine ? 0 : bits_as<u32>(x))) & kSignBit;
    return part | sign;
  }
  WARPGAUGE_INLINE static float value(float, u32, double sum) { return truncated(sum); }
  WARPGAUGE_INLINE static float result(float x, u32 place, float value) {
    const u32 number = select((place & kSignificand) == 0, 0, bits_as<u32>(value));
    const u32 result = number | (place & kSignBit);
    return bits_as<float>(select(size_of(x) >= kInfinityBits, kNanBits, result));
  }
};

/// From 2^-8 to 8. Less is itself, more is 1.
struct Tangent {
  static constexpr int kBits = 17;
  static constexpr auto kTable = columns(kTanhTable);
  WARPGAUGE_INLINE static u32 place(float x) {
    // The bits of the significand that choose the segment: 1 from 2^-5, 2 from 2^-3, 3 from 1, 4
    // from 2, 3 from 4 on.
    const s32 exponent = exponent_of(x);
    const auto from = [&](s32 least) { return static_cast<s32>(exponent >= least); };
    const s32 bits = from(-5) + from(-3) + from(0) + from(1) - from(2);
    const u32 first = static_cast<u32>(first_segment(exponent));
    return (first << kBits) + ((bits_as<u32>(x) & kSignificand) >> (6 - bits));
  }
  WARPGAUGE_INLINE static float value(float, u32, double sum) { return truncated(sum); }
  WARPGAUGE_INLINE static float result(float x, u32, float value) {
    const u32 size = size_of(x);
    const u32 known = select(size >= kOne + 3 * kLeastNormal, kOne, bits_as<u32>(value));
    const u32 number = select(size < kOne - 8 * kLeastNormal, size, known);
    return bits_as<float>(select(size > kInfinityBits, kNanBits, number | sign_of(x)));
  }

 private:
  /// The first segment of a binade: as many as there are before it.
  WARPGAUGE_INLINE static s32 first_segment(s32 exponent) {
    const auto from = [&](s32 least) { return static_cast<s32>(exponent >= least); };
    return from(-7) + from(-6) + from(-5) + 2 * from(-4) + 2 * from(-3) +
           4 * (from(-2) + from(-1) + from(0)) + 8 * from(1) + 16 * from(2);
  }
};

/// The results near numbers, exactly.
template <typename Function>
WARPGAUGE_INLINE void complete(float* values, const float* near, const u32* place) {
  alignas(64) u32 sums[kLanes];
  constexpr int kDropped = Function::kNear.dropped;
  interpolate<Function::kNear.bits>(sums, Function::kNear.columns, place);
  for (int i = 0; i < kLanes; ++i) {
    if constexpr (requires { Function::kLessAtOne; }) {
      sums[i] += place[i] == 0 ? u32{1} << kDropped : 0;
    }
    values[i] = bits_as<float>(completed<kDropped>(bits_as<u32>(near[i]), sums[i]));
  }
}

/// The values of the places in the binade of the table.
template <typename Function>
WARPGAUGE_INLINE void values_at(float* values, const u32* place) {
  alignas(64) float x[kLanes], near[kLanes];
  alignas(64) u32 part[kLanes];
  for (int i = 0; i < kLanes; ++i) x[i] = bits_as<float>(place[i] + kOne);
  for (int i = 0; i < kLanes; ++i) part[i] = place[i] & kSignificand;
  Function::near(near, x, part);
  complete<Function>(values, near, place);
}
/// The values of the sums.
template <typename Function>
WARPGAUGE_INLINE void values_of_sums(float* values, const float* x, const u32* place) {
  alignas(64) typename decltype(Function::kTable)::Sum sums[kLanes];
  interpolate<Function::kBits>(sums, Function::kTable, place);
  for (int i = 0; i < kLanes; ++i) values[i] = Function::value(x[i], place[i], sums[i]);
}

template <typename Function>
inline constexpr bool kHasOrdinary = requires {
  Function::kOrdinary;
};

/// A function of the lanes of a warp whose arguments are all ordinary.
template <typename Function>
WARPGAUGE_INLINE void evaluate_ordinary(float* out, const float* x) {
  alignas(64) u32 place[kLanes];
  for (int i = 0; i < kLanes; ++i) place[i] = Function::place(x[i]);
  if constexpr (requires { Function::kNear; }) {
    alignas(64) float near[kLanes];
    Function::near(near, x, place);
    complete<Function>(out, near, place);
  } else {
    values_of_sums<Function>(out, x, place);
  }
}
/// Evaluates the function of any arguments.
template <typename Function>
WARPGAUGE_INLINE void evaluate(float* out, const float* x) {
  alignas(64) u32 place[kLanes];
  alignas(64) float values[kLanes];
  for (int i = 0; i < kLanes; ++i) place[i] = Function::place(x[i]);
  if constexpr (requires { Function::kNear; }) {
    values_at<Function>(values, place);
  } else {
    values_of_sums<Function>(values, x, place);
  }
  for (int i = 0; i < kLanes; ++i) out[i] = Function::result(x[i], place[i], values[i]);
}

/// Starting values for doubles, of the upper halves of doubles.
struct High {
  static constexpr u32 kInfinity = 0x7ff00000, kLeast = 0x00100000;
  WARPGAUGE_INLINE static s32 exponent(u32 x) {
    return static_cast<s32>((x & ~kSignBit) >> 20) - 1023;
  }
  /// `upper`, the upper half of a positive double, times a power of two.
  WARPGAUGE_INLINE static u32 scaled(u32 upper, s32 exponent) {
    const s32 bits = static_cast<s32>(upper) + exponent * s32{kLeast};
    return select(bits < s32{kLeast}, 0, static_cast<u32>(bits));
  }
};
struct ReciprocalHigh : High {
  using Unit = Reciprocal;
  WARPGAUGE_INLINE static u32 place(u32 x) { return x << 3 & kSignificand; }
  WARPGAUGE_INLINE static u32 result(u32 x, u32 upper) {
    const u32 size = x & ~kSignBit, number = scaled(upper, -exponent(x));
    const u32 finite = select(size < kLeast, kInfinity, number);
    const u32 result = (x & kSignBit) | select(size == kInfinity, 0, finite);
    return select(size > kInfinity, kNanBits, result);
  }
};
struct InverseRootHigh : High {
  using Unit = InverseRoot;
  WARPGAUGE_INLINE static u32 place(u32 x) { return (x << 3 & 0xffffff) ^ kLeastNormal; }
  WARPGAUGE_INLINE static u32 result(u32 x, u32 upper) {
    const u32 number = select(x == kInfinity, 0, scaled(upper, -(exponent(x) >> 1)));
    const u32 result = select(x > kInfinity, kNanBits, number);
    return select((x & ~kSignBit) < kLeast, (x & kSignBit) | kInfinity, result);
  }
};
template <typename Function>
WARPGAUGE_INLINE void evaluate_high(u32* out, const u32* x) {
  using Unit = typename Function::Unit;
  alignas(64) u32 place[kLanes];
  alignas(64) float values[kLanes];
  for (int i = 0; i < kLanes; ++i) place[i] = Function::place(x[i]);
  values_at<Unit>(values, place);
  for (int i = 0; i < kLanes; ++i) {
    // The upper half of a double has the exponent in another unit, and three bits less.
    const u32 upper = (bits_as<u32>(values[i]) >> 3) + ((1023 - 127) << 20);
    out[i] = Function::result(x[i], upper);
  }
}

}  // namespace
}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
