// Loops over the lanes of a warp, for the files of this folder only. Everything here has internal
// linkage, for these files are compiled once for each instruction set.
#pragma once

#include <cstdint>

#include "harness/emulator/machine/core/warp.h"

#ifdef WARPGAUGE_ISA_avx512
#include <immintrin.h>
#endif

#define WARPGAUGE_INLINE [[gnu::always_inline]] inline

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

/// The unsigned integer of a number of bytes, and its signed sibling.
template <int kBytes>
struct Bits;
template <>
struct Bits<1> {
  using Unsigned = u8;
  using Signed = s8;
};
template <>
struct Bits<2> {
  using Unsigned = u16;
  using Signed = s16;
};
template <>
struct Bits<4> {
  using Unsigned = u32;
  using Signed = s32;
};
template <>
struct Bits<8> {
  using Unsigned = u64;
  using Signed = s64;
};
template <>
struct Bits<16> {
  using Unsigned = u128;
  using Signed = s128;
};
template <typename T>
using Unsigned = typename Bits<sizeof(T)>::Unsigned;
template <typename T>
using Signed = typename Bits<sizeof(T)>::Signed;
template <typename T>
inline constexpr bool kIsSigned = static_cast<T>(-1) < static_cast<T>(0);
template <typename A, typename B>
inline constexpr bool kSame = false;
template <typename A>
inline constexpr bool kSame<A, A> = true;

template <bool kFirst, typename A, typename B>
struct Either {
  using Type = A;
};
template <typename A, typename B>
struct Either<false, A, B> {
  using Type = B;
};
/// A or B, never what the two have in common.
template <bool kFirst, typename A, typename B>
using Choose = typename Either<kFirst, A, B>::Type;

/// The same bits as another type.
template <typename To, typename From>
WARPGAUGE_INLINE To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

template <typename T>
WARPGAUGE_INLINE const T* lanes(const Warp& warp, const Instruction& instruction, int n) {
  return static_cast<const T*>(__builtin_assume_aligned(source<T>(warp, instruction, n), 64));
}

#if defined(WARPGAUGE_ISA_avx512)
inline constexpr int kVectorBytes = 64;
#elif defined(WARPGAUGE_ISA_avx2)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

#ifdef WARPGAUGE_ISA_avx512
/// A vector of `yes` where a bit is on, of `no` where it is off, in as many lanes as one has.
template <typename T>
WARPGAUGE_INLINE void select_some_lanes(T* out, Mask mask, const T* yes, const T* no) {
  if constexpr (sizeof(T) == 1) {
    const __m256i a = _mm256_load_si256(reinterpret_cast<const __m256i*>(yes));
    const __m256i b = _mm256_load_si256(reinterpret_cast<const __m256i*>(no));
    _mm256_store_si256(reinterpret_cast<__m256i*>(out), _mm256_mask_blend_epi8(mask, b, a));
  } else {
    const __m512i a = _mm512_load_si512(yes);
    __m512i b = _mm512_load_si512(no);
    // The compiler would make this a masked store. It is a whole one, from which the next load gets
    // its values: it would wait for a masked store to reach the cache.
    __asm__("" : "+v"(b));
    const auto blended = [&] {
      if constexpr (sizeof(T) == 2) return _mm512_mask_blend_epi16(mask, b, a);
      if constexpr (sizeof(T) == 4) {
        return _mm512_mask_blend_epi32(static_cast<__mmask16>(mask), b, a);
      }
      if constexpr (sizeof(T) == 8) {
        return _mm512_mask_blend_epi64(static_cast<__mmask8>(mask), b, a);
      }
    };
    _mm512_store_si512(out, blended());
  }
}
#else
/// {1, 2, 4, ...}: bit of each element of a vector.
template <typename Vector, typename Element>
WARPGAUGE_INLINE Vector element_bits() {
  Vector bits{};
  for (unsigned i = 0; i < sizeof(Vector) / sizeof(Element); ++i) {
    bits[i] = static_cast<Element>(Element{1} << (i % (8 * sizeof(Element))));
  }
  return bits;
}
#endif

/// out[i] = yes[i] in the lanes of the mask, no[i] in the others.
template <typename T>
WARPGAUGE_INLINE void select_lanes(T* out, Mask mask, const T* yes, const T* no) {
  if constexpr (sizeof(T) == 16) {
    for (int i = 0; i < kLanes; ++i) out[i] = (mask >> i & 1) != 0 ? yes[i] : no[i];
  } else {
#ifdef WARPGAUGE_ISA_avx512
    constexpr int kStep = sizeof(T) == 1 ? kLanes : 64 / sizeof(T);
    for (int i = 0; i < kLanes; i += kStep) {
      select_some_lanes(out + i, mask >> i, yes + i, no + i);
    }
#else
    using Element = Unsigned<T>;
    constexpr int kBytes = kVectorBytes < kLanes * static_cast<int>(sizeof(T))
                               ? kVectorBytes
                               : kLanes * static_cast<int>(sizeof(T));
    typedef Element Vector __attribute__((vector_size(kBytes), may_alias));
    constexpr int kElements = kBytes / static_cast<int>(sizeof(T));
    const Vector bits = element_bits<Vector, Element>();
    constexpr int kTestBits = 8 * sizeof(T);  // an element tests the lowest ones of the mask
    for (int first = 0; first < kLanes; first += kElements) {
      Vector test{};
      if constexpr (kElements <= kTestBits) {
        const Element low = static_cast<Element>(mask >> first);
        test = bits & (Vector{} + low);
      } else {
        for (int i = 0; i < kElements; ++i) {
          test[i] = bits[i] & static_cast<Element>(mask >> (first + i / kTestBits * kTestBits));
        }
      }
      const Vector a = *reinterpret_cast<const Vector*>(yes + first);
      const Vector b = *reinterpret_cast<const Vector*>(no + first);
      *reinterpret_cast<Vector*>(out + first) = test != Vector{} ? a : b;
    }
#endif
  }
}

/// Copies the active lanes of a vector; a lane has kPerLane values of T.
template <typename T, int kPerLane = 1>
WARPGAUGE_INLINE void blend(T* to, const T* from, Mask active) {
  typedef typename Bits<sizeof(T) * kPerLane>::Unsigned Lane __attribute__((may_alias));
  Lane* const lanes = reinterpret_cast<Lane*>(to);
  select_lanes<Lane>(lanes, active, reinterpret_cast<const Lane*>(from), lanes);
}

/// write_to() where some lanes are off. By itself, so that complete warps need no buffer.
template <typename T, int kPerLane, typename Function>
WARPGAUGE_INLINE void write_some(const Warp& warp, T* destination, const Function& function) {
  alignas(64) T buffer[kLanes * kPerLane];
#pragma GCC ivdep
  for (int i = 0; i < kLanes * kPerLane; ++i) buffer[i] = function(i);
  // GCC 12 fails with an internal error where it makes one masked instruction of a minimum of 16
  // bits and the blend: let it not see the one from the other.
  if constexpr (sizeof(T) == 2) __asm__("" : "+m"(buffer));
  blend<T, kPerLane>(destination, buffer, warp.active);
}

/// destination[i] = function(i) for the active lanes. With kPerLane values of T in a lane i counts
/// the values. All lanes are computed: `function` must be harmless for any values.
template <typename T, int kPerLane = 1, typename Function>
WARPGAUGE_INLINE void write_to(const Warp& warp, T* destination, Function function) {
  T* const out = static_cast<T*>(__builtin_assume_aligned(destination, 64));
  if (warp.active != kAllLanes) [[unlikely]] {
    return write_some<T, kPerLane>(warp, out, function);
  }
#pragma GCC ivdep
  for (int i = 0; i < kLanes * kPerLane; ++i) out[i] = function(i);
}

template <typename T, int kPerLane = 1, typename Function>
WARPGAUGE_INLINE void write(Warp& warp, const Instruction& instruction, Function function) {
  write_to<T, kPerLane>(warp, destination<T>(warp, instruction), function);
}

#ifdef WARPGAUGE_ISA_avx512
/// The signs of values, one bit a lane.
template <typename T>
WARPGAUGE_INLINE Mask signs(const T* values) {
  if constexpr (sizeof(T) == 1) {
    return _mm256_movepi8_mask(_mm256_load_si256(reinterpret_cast<const __m256i*>(values)));
  } else if constexpr (sizeof(T) == 2) {
    return _mm512_movepi16_mask(_mm512_load_si512(values));
  } else if constexpr (sizeof(T) == 4) {
    const auto half = [&](int i) { return _mm512_movepi32_mask(_mm512_load_si512(values + i)); };
    return half(0) | Mask{half(16)} << 16;
  } else {
    const auto part = [&](int i) {
      return Mask{_mm512_movepi64_mask(_mm512_load_si512(values + i))} << i;
    };
    return part(0) | part(8) | part(16) | part(24);
  }
}
#endif

/// One bit a lane: function(i), which is of values as wide as T.
template <typename T = u32, typename Function>
WARPGAUGE_INLINE Mask mask_of(Function function) {
#ifdef WARPGAUGE_ISA_avx512
  alignas(64) Signed<T> truth[kLanes];
  for (int i = 0; i < kLanes; ++i) truth[i] = static_cast<Signed<T>>(function(i) ? -1 : 0);
  return signs(truth);
#else
  Mask mask = 0;
  for (int i = 0; i < kLanes; ++i) mask |= function(i) ? Mask{1} << i : 0;
  return mask;
#endif
}

/// The active lanes' bits of a predicate that is a destination.
WARPGAUGE_INLINE void write_predicate(const Warp& warp, Mask* destination, Mask value) {
  *destination = (*destination & ~warp.active) | (value & warp.active);
}

}  // namespace
}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
