// Floating-point values of a lane: flushing, saturation, canonical NaNs, half precision.
#pragma once

#include "harness/emulator/machine/isa/lanes.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

/// The only NaN that single-precision arithmetic gives.
inline constexpr u32 kNanBits = 0x7fffffff;
inline constexpr u16 kHalfNanBits = 0x7fff;  ///< likewise, of f16 and bf16

/// The storage of f16 and bf16 values; as float they are exact.
struct Half {
  u16 bits;
};
struct BFloat {
  u16 bits;
};

WARPGAUGE_INLINE float widen(float value) { return value; }
WARPGAUGE_INLINE double widen(double value) { return value; }
WARPGAUGE_INLINE float widen(BFloat value) { return bits_as<float>(u32{value.bits} << 16); }
WARPGAUGE_INLINE float widen(Half value) {
  const u32 sign = u32{value.bits & 0x8000u} << 16;
  const u32 magnitude = value.bits & 0x7fffu;
  // A subnormal half is its bits times 2^-24; a normal one needs its exponent moved by 112.
  const u32 tiny = bits_as<u32>(static_cast<float>(static_cast<s32>(magnitude)) * 0x1p-24f);
  const u32 moved = (magnitude << 13) + (magnitude >= 0x7c00 ? 224u << 23 : 112u << 23);
  return bits_as<float>(sign | (magnitude < 0x400 ? tiny : moved));
}

template <typename T>
WARPGAUGE_INLINE bool is_nan(T value) {
  return value != value;
}

/// A subnormal value becomes a zero of its sign. All but f32 (and f16, see alu_half.cpp) keep them.
WARPGAUGE_INLINE float flush(float value) {
  const u32 bits = bits_as<u32>(value);
  return bits_as<float>((bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits);
}
/// A result that had to be rounded. A GPU looks at what it would be if exponents had no limit: less
/// than the smallest normal number is flushed, even if it is rounded to that otherwise. `scaled` is
/// the result with the exact one times kScale.
inline constexpr float kScale = 0x1p24f;
WARPGAUGE_INLINE float flush(float value, float scaled) {
  const bool tiny = __builtin_fabsf(scaled) < kScale * 0x1p-126f;
  return bits_as<float>(tiny ? bits_as<u32>(value) & 0x80000000 : bits_as<u32>(value));
}

template <bool kFtz>
WARPGAUGE_INLINE float flush_if(float value) {
  return kFtz ? flush(value) : value;
}
template <bool kFtz>
WARPGAUGE_INLINE double flush_if(double value) {
  static_assert(!kFtz);
  return value;
}

WARPGAUGE_INLINE float canonical(float value) {
  return is_nan(value) ? bits_as<float>(kNanBits) : value;
}
WARPGAUGE_INLINE double canonical(double value) { return value; }

/// Whether any of so many values, in a vector, is a NaN.
template <int kCount, typename T>
WARPGAUGE_INLINE bool any_nan(const T* values) {
#ifdef WARPGAUGE_ISA_avx512
  constexpr int kStep = 64 / sizeof(T);
  Mask nan = 0;
  for (int i = 0; i < kCount; i += 2 * kStep) {
    if constexpr (sizeof(T) == 4) {
      nan |= _mm512_cmp_ps_mask(_mm512_load_ps(values + i), _mm512_load_ps(values + i + kStep),
                                _CMP_UNORD_Q);
    } else {
      nan |= _mm512_cmp_pd_mask(_mm512_load_pd(values + i), _mm512_load_pd(values + i + kStep),
                                _CMP_UNORD_Q);
    }
  }
  return nan != 0;
#else
  Unsigned<T> nan = 0;
  for (int i = 0; i < kCount; ++i) nan |= is_nan(values[i]) ? 1 : 0;
  return nan != 0;
#endif
}

/// write() of results of arithmetic, of which the NaNs become canonical. There are none as a rule:
/// the results do not wait for the test, as they would for canonical() of each.
template <typename T, int kPerLane, typename Function>
WARPGAUGE_INLINE void write_canonical(Warp& warp, const Instruction& instruction,
                                      Function function) {
  write<T, kPerLane>(warp, instruction, function);
  if constexpr (kSame<T, float>) {
    float* const results =
        static_cast<float*>(__builtin_assume_aligned(destination<float>(warp, instruction), 64));
    if (any_nan<kLanes * kPerLane>(results)) [[unlikely]] {
      write<float, kPerLane>(warp, instruction, [=](int i) { return canonical(results[i]); });
    }
  }
}

/// .sat: [0, 1], NaN to +0.
template <typename T>
WARPGAUGE_INLINE T saturate(T value) {
  const T low = value > T{0} ? value : T{0};
  return low < T{1} ? low : T{1};
}

}  // namespace
}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
