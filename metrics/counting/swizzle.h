// Swizzling of shared memory: the order of 16-byte chunks that tensor copies and wgmma's matrix
// descriptors agree on, so that rows and columns of a tile are read without bank conflicts.
#pragma once

#include <cstdint>

namespace warpgauge::metrics {

/// The swizzles, numbered as in CUtensorMapSwizzle. Chunks change places within a span; the bytes
/// of an atom stay together. Both are in bytes.
enum class Swizzle : std::uint8_t {
  none,
  span_32,
  span_64,
  span_128,
  span_128_atom_32,
  span_128_atom_32_flip_8,  ///< also swaps the halves of each 16 bytes in every other line
  span_128_atom_64,
};
constexpr int kSwizzles = 7;

/// Shared memory is swizzled in lines of this many bytes: all 32 banks.
constexpr std::uint32_t kSwizzleLine = 128;

/// Bytes of the span; 0 without swizzling.
[[gnu::always_inline]] constexpr std::uint32_t swizzle_span(Swizzle swizzle) {
  if (swizzle == Swizzle::none) return 0;
  return swizzle == Swizzle::span_32 ? 32 : (swizzle == Swizzle::span_64 ? 64 : 128);
}

/// The pattern begins at multiples of this many bytes (PTX ISA, "Swizzling Modes"); a matrix that
/// begins elsewhere has a base offset. 16 without swizzling.
[[gnu::always_inline]] constexpr std::uint32_t swizzle_period(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::none:
      return 16;
    case Swizzle::span_32:
    case Swizzle::span_128_atom_64:
      return 256;
    case Swizzle::span_64:
    case Swizzle::span_128_atom_32:
    case Swizzle::span_128_atom_32_flip_8:
      return 512;
    case Swizzle::span_128:
      break;
  }
  return 1024;
}

/// The bits that swizzling flips in all addresses of the line of 128 bytes around `address`.
/// `address` is in bytes of the block's shared memory, not an offset in a tile: the pattern depends
/// on its bits 7 to 9. PTX ISA, "Swizzling Modes"; the spans of 32, 64 and 128 bytes were also
/// checked on an H200.
[[gnu::always_inline]] constexpr std::uint32_t swizzle_bits(Swizzle swizzle,
                                                            std::uint32_t address) {
  switch (swizzle) {
    case Swizzle::none:
      break;
    case Swizzle::span_32:
      return address >> 3 & 0x10;
    case Swizzle::span_64:
      return address >> 3 & 0x30;
    case Swizzle::span_128:
      return address >> 3 & 0x70;
    case Swizzle::span_128_atom_32:
      return address >> 2 & 0x60;
    case Swizzle::span_128_atom_32_flip_8:
      return (address >> 2 & 0x60) | (address >> 4 & 0x08);
    case Swizzle::span_128_atom_64:
      return address >> 1 & 0x40;
  }
  return 0;
}

/// The address of the byte that would lie at `address` without swizzling. The function is its own
/// inverse.
[[gnu::always_inline]] constexpr std::uint32_t swizzled(Swizzle swizzle, std::uint32_t address) {
  return address ^ swizzle_bits(swizzle, address);
}

}  // namespace warpgauge::metrics
