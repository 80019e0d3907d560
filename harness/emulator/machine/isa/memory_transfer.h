// Moves values between memory and the registers of a warp. For the files of this folder only.
#pragma once

#include "harness/emulator/machine/isa/memory_lanes.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

/// An unsigned value of kBytes bytes, in memory of any type.
template <int kBytes>
using Value [[gnu::may_alias]] = typename Bits<kBytes>::Unsigned;

/// The bytes that are copied at once.
typedef u8 Chunk __attribute__((vector_size(kVectorBytes), aligned(1), may_alias));

/// Copies what all lanes have of a value, to and from anywhere.
template <int kBytes>
WARPGAUGE_INLINE void copy_all(std::byte* to, const std::byte* from) {
  constexpr int kChunks = kLanes * kBytes / kVectorBytes;
  if constexpr (kChunks == 0) {  // 32 bytes
    typedef u8 Small __attribute__((vector_size(32), aligned(1), may_alias));
    *reinterpret_cast<Small*>(to) = *reinterpret_cast<const Small*>(from);
  } else {
    for (int i = 0; i < kChunks; ++i) {
      reinterpret_cast<Chunk*>(to)[i] = reinterpret_cast<const Chunk*>(from)[i];
    }
  }
}

/// The same for some lanes; touches nothing of the others.
template <int kBytes>
WARPGAUGE_INLINE void copy_some(std::byte* to, const std::byte* from, Mask lanes) {
#if defined(__AVX512F__)
  if constexpr (kBytes == 4) {
    for (int i = 0; i < 2; ++i) {
      const __mmask16 on = static_cast<__mmask16>(lanes >> (16 * i));
      _mm512_mask_storeu_epi32(to + 64 * i, on, _mm512_maskz_loadu_epi32(on, from + 64 * i));
    }
    return;
  } else if constexpr (kBytes == 8) {
    for (int i = 0; i < 4; ++i) {
      const __mmask8 on = static_cast<__mmask8>(lanes >> (8 * i));
      _mm512_mask_storeu_epi64(to + 64 * i, on, _mm512_maskz_loadu_epi64(on, from + 64 * i));
    }
    return;
  }
#endif
  for (Mask rest = lanes; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    reinterpret_cast<Value<kBytes>*>(to)[lane] = reinterpret_cast<const Value<kBytes>*>(from)[lane];
  }
}

template <int kBytes>
WARPGAUGE_INLINE void copy(std::byte* to, const std::byte* from, Mask lanes) {
  if (lanes == kAllLanes) {
    copy_all<kBytes>(to, from);
  } else {
    copy_some<kBytes>(to, from, lanes);
  }
}

/// Gives the lanes that are on the same value.
template <int kBytes>
WARPGAUGE_INLINE void broadcast(std::byte* to, Value<kBytes> value, Mask lanes) {
  using Plain = typename Bits<kBytes>::Unsigned;
  Plain* const values = static_cast<Plain*>(__builtin_assume_aligned(to, 64));
  const Plain plain = value;
  if (lanes == kAllLanes) {
    for (int lane = 0; lane < kLanes; ++lane) values[lane] = plain;
    return;
  }
  alignas(64) Plain same[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) same[lane] = plain;
  blend<Plain>(values, same, lanes);
}

#if defined(__AVX512F__)
/// One value of 4 or 8 bytes from each lane's address.
template <int kBytes, bool kAll, typename Index>
WARPGAUGE_INLINE void gather(const Checked<Index>& from, std::byte* to) {
  const void* const base = reinterpret_cast<const void*>(from.base);
  constexpr int kStep = kBytes == 4 && sizeof(Index) == 4 ? 16 : 8;
  for (int lane = 0; lane < kLanes; lane += kStep) {
    const Mask on = kAll ? kAllLanes : from.lanes >> lane;
    std::byte* const out = to + kBytes * lane;
    const Index* const index = from.index + lane;
    if constexpr (kBytes == 4 && sizeof(Index) == 8) {
      __m256i* const values = reinterpret_cast<__m256i*>(out);
      const __m256i before = kAll ? _mm256_setzero_si256() : _mm256_load_si256(values);
      _mm256_store_si256(values, _mm512_mask_i64gather_epi32(before, static_cast<__mmask8>(on),
                                                             _mm512_load_si512(index), base, 1));
    } else {
      const __m512i before = kAll ? _mm512_setzero_si512() : _mm512_load_si512(out);
      if constexpr (kBytes == 4) {
        _mm512_store_si512(out, _mm512_mask_i32gather_epi32(before, static_cast<__mmask16>(on),
                                                            _mm512_load_si512(index), base, 1));
      } else if constexpr (sizeof(Index) == 4) {
        const __m256i narrow = _mm256_load_si256(reinterpret_cast<const __m256i*>(index));
        _mm512_store_si512(
            out, _mm512_mask_i32gather_epi64(before, static_cast<__mmask8>(on), narrow, base, 1));
      } else {
        _mm512_store_si512(out, _mm512_mask_i64gather_epi64(before, static_cast<__mmask8>(on),
                                                            _mm512_load_si512(index), base, 1));
      }
    }
  }
}
/// The fewest lanes for which gather() is faster than a loop over them.
inline constexpr int kLeastGathered = 8;
#endif

/// Sixteen bytes as values of some size.
typedef u32 Words __attribute__((vector_size(16), aligned(4), may_alias));
typedef u64 Doubles __attribute__((vector_size(16), aligned(8), may_alias));

/// Whether lanes' values of 8 or 16 bytes are taken apart and put together by shuffles.
template <int kBytes, int kElements>
inline constexpr bool kShuffles =
    (kBytes == 4 && (kElements == 2 || kElements == 4)) || (kBytes == 8 && kElements == 2);

/// Rows become columns and columns rows.
WARPGAUGE_INLINE void transpose(Words (&rows)[4]) {
  const Words a = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
  const Words b = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
  const Words c = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
  const Words d = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
  rows[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
  rows[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
  rows[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
  rows[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
}

/// The lanes' values of 8 or 16 bytes, some lanes at a time, taken apart into vectors; all lanes
/// on.
template <int kBytes, int kElements, typename Index>
WARPGAUGE_INLINE void load_shuffled(const Checked<Index>& from, std::byte* const* to) {
  if constexpr (kBytes == 8) {
    for (int lane = 0; lane < kLanes; lane += 2) {
      const Doubles a = *reinterpret_cast<const Doubles*>(from.at(lane));
      const Doubles b = *reinterpret_cast<const Doubles*>(from.at(lane + 1));
      *reinterpret_cast<Doubles*>(to[0] + 8 * lane) = __builtin_shufflevector(a, b, 0, 2);
      *reinterpret_cast<Doubles*>(to[1] + 8 * lane) = __builtin_shufflevector(a, b, 1, 3);
    }
  } else if constexpr (kElements == 4) {
    for (int lane = 0; lane < kLanes; lane += 4) {
      Words rows[4];
      for (int n = 0; n < 4; ++n) rows[n] = *reinterpret_cast<const Words*>(from.at(lane + n));
      transpose(rows);
      for (int n = 0; n < 4; ++n) *reinterpret_cast<Words*>(to[n] + 4 * lane) = rows[n];
    }
  } else {
    const auto pair = [&](int lane) { return *reinterpret_cast<const Value<8>*>(from.at(lane)); };
    for (int lane = 0; lane < kLanes; lane += 4) {
      const Words a = reinterpret_cast<Words>(Doubles{pair(lane), pair(lane + 1)});
      const Words b = reinterpret_cast<Words>(Doubles{pair(lane + 2), pair(lane + 3)});
      *reinterpret_cast<Words*>(to[0] + 4 * lane) = __builtin_shufflevector(a, b, 0, 2, 4, 6);
      *reinterpret_cast<Words*>(to[1] + 4 * lane) = __builtin_shufflevector(a, b, 1, 3, 5, 7);
    }
  }
}

/// Lanes whose stores of so many bytes a GPU serves at once. Of lanes with the same address the
/// lowest of the last such group wins (measured on an H100 for 1 to 16 bytes).
template <int kBytes>
inline constexpr int kLanesStoredAtOnce = kBytes <= 4 ? kLanes : 4 * kLanes / kBytes;

/// Calls function(lane) for the lanes in the order in which their stores overwrite each other. With
/// all lanes on, a call may store for kStep lanes, from `lane` on.
template <int kBytes, int kStep, typename Function>
WARPGAUGE_INLINE void for_stores(Mask lanes, Function function) {
  constexpr int kAtOnce = kLanesStoredAtOnce<kBytes>;
  constexpr Mask kFirst = kAllLanes >> (kLanes - kAtOnce);
  for (int group = 0; group < kLanes; group += kAtOnce) {
    if (lanes == kAllLanes) {
      for (int lane = group + kAtOnce - kStep; lane >= group; lane -= kStep) function(lane);
      continue;
    }
    for (Mask rest = lanes & (kFirst << group); rest != 0;) {
      const int lane = kLanes - 1 - __builtin_clz(rest);
      rest ^= Mask{1} << lane;
      function(lane);
    }
  }
}

/// The reverse of load_shuffled().
template <int kBytes, int kElements, typename Index>
WARPGAUGE_INLINE void store_shuffled(const Checked<Index>& to, const std::byte* const* from) {
  if constexpr (kBytes == 8) {
    for_stores<kBytes * kElements, 2>(kAllLanes, [&](int lane) {
      const Doubles a = *reinterpret_cast<const Doubles*>(from[0] + 8 * lane);
      const Doubles b = *reinterpret_cast<const Doubles*>(from[1] + 8 * lane);
      *reinterpret_cast<Doubles*>(to.at(lane + 1)) = __builtin_shufflevector(a, b, 1, 3);
      *reinterpret_cast<Doubles*>(to.at(lane)) = __builtin_shufflevector(a, b, 0, 2);
    });
  } else if constexpr (kElements == 4) {
    for_stores<kBytes * kElements, 4>(kAllLanes, [&](int lane) {
      Words rows[4];
      for (int n = 0; n < 4; ++n) rows[n] = *reinterpret_cast<const Words*>(from[n] + 4 * lane);
      transpose(rows);
      for (int n = 3; n >= 0; --n) *reinterpret_cast<Words*>(to.at(lane + n)) = rows[n];
    });
  } else {
    for_stores<kBytes * kElements, 4>(kAllLanes, [&](int lane) {
      const Words a = *reinterpret_cast<const Words*>(from[0] + 4 * lane);
      const Words b = *reinterpret_cast<const Words*>(from[1] + 4 * lane);
      const Doubles low = reinterpret_cast<Doubles>(__builtin_shufflevector(a, b, 0, 4, 1, 5));
      const Doubles high = reinterpret_cast<Doubles>(__builtin_shufflevector(a, b, 2, 6, 3, 7));
      *reinterpret_cast<Value<8>*>(to.at(lane + 3)) = high[1];
      *reinterpret_cast<Value<8>*>(to.at(lane + 2)) = high[0];
      *reinterpret_cast<Value<8>*>(to.at(lane + 1)) = low[1];
      *reinterpret_cast<Value<8>*>(to.at(lane)) = low[0];
    });
  }
}

/// Loads kElements values of each lane, that lie next to each other, into as many vectors.
template <int kBytes, int kElements, typename Index>
WARPGAUGE_INLINE void load_lanes(const Checked<Index>& from, std::byte* const* to) {
  using T = Value<kBytes>;
  if (from.pattern == Pattern::uniform) {
    const T* const values = reinterpret_cast<const T*>(from.at(from.lead()));
    T first[kElements];
    for (int n = 0; n < kElements; ++n) first[n] = values[n];
    for (int n = 0; n < kElements; ++n) broadcast<kBytes>(to[n], first[n], from.lanes);
    return;
  }
  if constexpr (kElements == 1) {
    if (from.pattern == Pattern::contiguous) {
      const int lead = from.lead();
      copy<kBytes>(to[0], from.at(lead) - lead * kBytes, from.lanes);
      return;
    }
#if defined(__AVX512F__)
    if constexpr (kBytes == 4 || kBytes == 8) {
      if (from.lanes == kAllLanes) return gather<kBytes, true>(from, to[0]);
      if (__builtin_popcount(from.lanes) >= kLeastGathered) {
        return gather<kBytes, false>(from, to[0]);
      }
    }
#endif
  }
  if constexpr (kShuffles<kBytes, kElements>) {
    if (from.lanes == kAllLanes) return load_shuffled<kBytes, kElements>(from, to);
  }
  for_lanes(from.lanes, [&](int lane) {
    const T* const values = reinterpret_cast<const T*>(from.at(lane));
    T loaded[kElements];  // all of them before a destination may overwrite the address
    for (int n = 0; n < kElements; ++n) loaded[n] = values[n];
    for (int n = 0; n < kElements; ++n) reinterpret_cast<T*>(to[n])[lane] = loaded[n];
  });
}

/// Stores; of several lanes with the same address the one wins that wins on a GPU.
template <int kBytes, int kElements, typename Index>
WARPGAUGE_INLINE void store_lanes(const Checked<Index>& to, const std::byte* const* from) {
  using T = Value<kBytes>;
  if constexpr (kElements == 1) {
    if (to.pattern == Pattern::contiguous) {
      const int lead = to.lead();
      copy<kBytes>(to.at(lead) - lead * kBytes, from[0], to.lanes);
      return;
    }
  }
  if constexpr (kShuffles<kBytes, kElements>) {
    if (to.lanes == kAllLanes) return store_shuffled<kBytes, kElements>(to, from);
  }
  for_stores<kBytes * kElements, 1>(to.lanes, [&](int lane) {
    T* const values = reinterpret_cast<T*>(to.at(lane));
    for (int n = 0; n < kElements; ++n) values[n] = reinterpret_cast<const T*>(from[n])[lane];
  });
}

}  // namespace
}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
