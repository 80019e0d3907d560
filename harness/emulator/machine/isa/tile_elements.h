// Elements of the core matrices of wgmma (8 rows of 16 bytes) as float, which holds all of them
// exactly. For the files of this folder only.
#pragma once

#include "harness/emulator/machine/isa/halves.h"
#include "harness/emulator/machine/isa/matrix.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

typedef float Four __attribute__((vector_size(16), may_alias));
typedef float Part __attribute__((vector_size(kVectorBytes == 16 ? 16 : 32), may_alias));
typedef u16 EightShort __attribute__((vector_size(16), may_alias));

constexpr int kChunkBytes = 16;  ///< a row of a core matrix
constexpr int kColumns = 8;      ///< columns of B that are side by side

/// Where the column of a vector of eight sums is: the even ones first, as a lane's registers have
/// one even and one odd column each.
constexpr int kColumnOrder[kColumns] = {0, 2, 4, 6, 1, 3, 5, 7};

/// Sums of a row of A and eight columns of B.
constexpr int kParts = kColumns * sizeof(float) / sizeof(Part);
struct Eight {
  Part parts[kParts];
};

constexpr int elements_of_chunk(MatrixElement element) {
  return 8 * kChunkBytes / bits_of(element);
}

/// 16 bits that the elements of 8 bits become first: halves, 1/256 of one for e4m3, or integers.
template <MatrixElement kElement>
WARPGAUGE_INLINE u16 short_of(u8 byte) {
  if constexpr (kElement == MatrixElement::e4m3) {
    return static_cast<u16>((byte & 0x80) << 8 | (byte & 0x7f) << 7);
  }
  if constexpr (kElement == MatrixElement::e5m2) return half_of_e5m2(byte);
  if constexpr (kElement == MatrixElement::s8) return static_cast<u16>(s16{static_cast<s8>(byte)});
  return byte;
}

/// kCount elements of 16 bits, or that have become so.
template <MatrixElement kElement, int kCount>
WARPGAUGE_INLINE void widen_shorts(const u16* from, float* to) {
  if constexpr (kElement == MatrixElement::bf16) {
    for (int i = 0; i < kCount; ++i) to[i] = bits_as<float>(u32{from[i]} << 16);
  } else if constexpr (kElement == MatrixElement::s8 || kElement == MatrixElement::u8) {
    for (int i = 0; i < kCount; ++i) to[i] = static_cast<float>(static_cast<s16>(from[i]));
  } else {
#if defined(__F16C__)
    for (int i = 0; i < kCount; i += 8) {
      const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
      _mm256_storeu_ps(to + i, _mm256_cvtph_ps(halves));
    }
#else
    for (int i = 0; i < kCount; ++i) to[i] = widen(Half{from[i]});
#endif
  }
  if constexpr (kElement == MatrixElement::e4m3) {
    constexpr float kNext = 480;  // would follow the largest number, but is NaN
    for (int i = 0; i < kCount; ++i) {
      const float value = to[i] * 256;
      to[i] = __builtin_fabsf(value) == kNext ? bits_as<float>(kNanBits) : value;
    }
  }
}

WARPGAUGE_INLINE float float_of_tf32(u32 bits) { return bits_as<float>(bits & 0xffffe000); }

/// The elements of one row.
template <MatrixElement kElement>
WARPGAUGE_INLINE void widen_chunk(const std::byte* row, float* to) {
  if constexpr (kElement == MatrixElement::tf32) {
    u32 words[4];
    __builtin_memcpy(words, row, sizeof words);
    for (int i = 0; i < 4; ++i) to[i] = float_of_tf32(words[i]);
  } else if constexpr (bits_of(kElement) == 16) {
    u16 shorts[8];
    __builtin_memcpy(shorts, row, sizeof shorts);
    widen_shorts<kElement, 8>(shorts, to);
  } else {
    u8 bytes[16];
    u16 shorts[16];
    __builtin_memcpy(bytes, row, sizeof bytes);
    for (int i = 0; i < 16; ++i) shorts[i] = short_of<kElement>(bytes[i]);
    widen_shorts<kElement, 16>(shorts, to);
  }
}

/// Rows become columns. `step` is from one row to the next.
WARPGAUGE_INLINE void transpose_shorts(const u16* from, int step, u16 (*to)[8]) {
  EightShort rows[8], pairs[8], quads[8];
  for (int i = 0; i < 8; ++i) __builtin_memcpy(&rows[i], from + i * step, sizeof rows[i]);
  for (int i = 0; i < 4; ++i) {
    pairs[2 * i] = __builtin_shufflevector(rows[2 * i], rows[2 * i + 1], 0, 8, 1, 9, 2, 10, 3, 11);
    pairs[2 * i + 1] =
        __builtin_shufflevector(rows[2 * i], rows[2 * i + 1], 4, 12, 5, 13, 6, 14, 7, 15);
  }
  for (int i = 0; i < 8; i += 4) {
    for (int n = 0; n < 2; ++n) {
      quads[i + 2 * n] =
          __builtin_shufflevector(pairs[i + n], pairs[i + n + 2], 0, 1, 8, 9, 2, 3, 10, 11);
      quads[i + 2 * n + 1] =
          __builtin_shufflevector(pairs[i + n], pairs[i + n + 2], 4, 5, 12, 13, 6, 7, 14, 15);
    }
  }
  for (int i = 0; i < 4; ++i) {
    const EightShort even =
        __builtin_shufflevector(quads[i], quads[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    const EightShort odd =
        __builtin_shufflevector(quads[i], quads[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    __builtin_memcpy(to[2 * i], &even, sizeof even);
    __builtin_memcpy(to[2 * i + 1], &odd, sizeof odd);
  }
}

/// A core matrix whose rows are columns of B: to[k] gets the columns in kColumnOrder.
template <MatrixElement kElement>
WARPGAUGE_INLINE void widen_columns(const std::byte* const* rows, float (*to)[kColumns]) {
  if constexpr (kElement == MatrixElement::tf32) {
    for (int n = 0; n < kColumns; ++n) {
      u32 words[4];
      __builtin_memcpy(words, rows[kColumnOrder[n]], sizeof words);
      for (int k = 0; k < 4; ++k) to[k][n] = float_of_tf32(words[k]);
    }
  } else {
    constexpr int kDepth = elements_of_chunk(kElement);
    alignas(16) u16 columns[kColumns][kDepth], shorts[kDepth][kColumns];
    for (int n = 0; n < kColumns; ++n) {
      if constexpr (kDepth == 8) {
        __builtin_memcpy(columns[n], rows[kColumnOrder[n]], kChunkBytes);
      } else {
        u8 bytes[kDepth];
        __builtin_memcpy(bytes, rows[kColumnOrder[n]], kChunkBytes);
        for (int k = 0; k < kDepth; ++k) columns[n][k] = short_of<kElement>(bytes[k]);
      }
    }
    for (int k = 0; k < kDepth; k += 8) transpose_shorts(&columns[0][k], kDepth, shorts + k);
    widen_shorts<kElement, kDepth * kColumns>(&shorts[0][0], &to[0][0]);
  }
}

/// A core matrix whose rows are rows of B, of 16 bits.
template <MatrixElement kElement>
WARPGAUGE_INLINE void widen_rows(const std::byte* const* rows, float (*to)[kColumns]) {
  alignas(16) u16 shorts[8][kColumns];
  for (int k = 0; k < 8; ++k) {
    EightShort row;
    __builtin_memcpy(&row, rows[k], sizeof row);
    row = __builtin_shufflevector(row, row, 0, 2, 4, 6, 1, 3, 5, 7);
    __builtin_memcpy(shorts[k], &row, sizeof row);
  }
  widen_shorts<kElement, 8 * kColumns>(&shorts[0][0], &to[0][0]);
}

}  // namespace
}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
