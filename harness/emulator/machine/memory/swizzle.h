// Swizzling of shared memory: the order of 16-byte chunks that tensor copies and wgmma's matrix
// descriptors agree on, so that rows and columns of a tile are read without bank conflicts.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace warpgauge::emulator::machine::memory {

/// Numbers as those of CUtensorMapSwizzle. The span is the bytes within which chunks change
/// places, the atom the bytes that stay together.
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

/// Bytes of the span; without swizzling none is too wide: 0.
[[gnu::always_inline]] constexpr std::uint32_t swizzle_span(Swizzle swizzle) {
  if (swizzle == Swizzle::none) return 0;
  return swizzle == Swizzle::span_32 ? 32 : (swizzle == Swizzle::span_64 ? 64 : 128);
}

/// What an address has to be a multiple of so that the pattern begins there (PTX ISA, "Swizzling
/// Modes"); a matrix that begins elsewhere has a base offset. Without swizzling 16.
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

/// The bits that swizzling turns over in all addresses of the line of 128 bytes that `address` lies
/// in. `address` is one of the block's shared memory (bytes), not an offset in a tile: the pattern
/// depends on bits 7 to 9 of it. PTX ISA, "Swizzling Modes"; that of 32, 64 and 128 bytes also
/// as an H200 has it.
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

/// Where the byte goes that would be at `address` without swizzling. Its own inverse.
[[gnu::always_inline]] constexpr std::uint32_t swizzled(Swizzle swizzle, std::uint32_t address) {
  return address ^ swizzle_bits(swizzle, address);
}

/// Calls piece(place, offset, bytes) for the pieces of `bytes` bytes at `address` that stay
/// together, in order: `place` is the swizzled address, `offset` counts from the start. A piece
/// has at most 16 bytes, or 8 where halves are swapped.
template <typename Piece>
[[gnu::always_inline]] inline void for_each_swizzled_piece(Swizzle swizzle, std::uint32_t address,
                                                           std::uint32_t bytes, Piece piece) {
  const std::uint32_t atom = swizzle == Swizzle::span_128_atom_32_flip_8 ? 8 : 16;
  for (std::uint32_t done = 0; done < bytes;) {
    const std::uint32_t at = address + done;
    const std::uint32_t size = std::min(bytes - done, atom - at % atom);
    piece(swizzled(swizzle, at), done, size);
    done += size;
  }
}

namespace swizzling {

/// Moves whole lines in chunks of 16 bytes; returns the bytes that it moved. `move` is called as
/// move(pointer into shared memory, offset).
template <typename Move>
[[gnu::always_inline]] inline std::uint32_t for_lines(Swizzle swizzle, std::uint32_t address,
                                                      std::uint32_t bytes, Move move) {
  std::uint32_t done = 0;
  for (; done + kSwizzleLine <= bytes; done += kSwizzleLine) {
    const std::uint32_t bits = swizzle_bits(swizzle, address + done);
#pragma GCC unroll 8
    for (std::uint32_t chunk = 0; chunk < kSwizzleLine; chunk += 16) {
      move(address + done + (chunk ^ bits), done + chunk);
    }
  }
  return done;
}

constexpr bool moves_lines(Swizzle swizzle, std::uint32_t address) {
  return address % kSwizzleLine == 0 && swizzle != Swizzle::span_128_atom_32_flip_8;
}

}  // namespace swizzling

/// Calls body(constant) with `swizzle` as a std::integral_constant, so that loops over rows are
/// compiled for each.
template <typename Body>
[[gnu::always_inline]] inline void with_constant(Swizzle swizzle, Body body) {
  switch (swizzle) {
    case Swizzle::none:
      return body(std::integral_constant<Swizzle, Swizzle::none>{});
    case Swizzle::span_32:
      return body(std::integral_constant<Swizzle, Swizzle::span_32>{});
    case Swizzle::span_64:
      return body(std::integral_constant<Swizzle, Swizzle::span_64>{});
    case Swizzle::span_128:
      return body(std::integral_constant<Swizzle, Swizzle::span_128>{});
    case Swizzle::span_128_atom_32:
      return body(std::integral_constant<Swizzle, Swizzle::span_128_atom_32>{});
    case Swizzle::span_128_atom_32_flip_8:
      return body(std::integral_constant<Swizzle, Swizzle::span_128_atom_32_flip_8>{});
    case Swizzle::span_128_atom_64:
      return body(std::integral_constant<Swizzle, Swizzle::span_128_atom_64>{});
  }
}

/// Copies `bytes` bytes to `address` of shared memory, swizzled. `shared` points to the memory at
/// address 0. Nothing is checked.
[[gnu::always_inline]] inline void copy_to_swizzled(Swizzle swizzle, std::byte* shared,
                                                    std::uint32_t address, const std::byte* from,
                                                    std::uint32_t bytes) {
  if (swizzle == Swizzle::none) {
    std::memcpy(shared + address, from, bytes);
    return;
  }
  std::uint32_t done = 0;
  if (swizzling::moves_lines(swizzle, address)) {
    done = swizzling::for_lines(swizzle, address, bytes, [&](std::uint32_t at, std::uint32_t n) {
      std::memcpy(shared + at, from + n, 16);
    });
  }
  for_each_swizzled_piece(swizzle, address + done, bytes - done,
                          [&](std::uint32_t at, std::uint32_t n, std::uint32_t size) {
                            std::memcpy(shared + at, from + done + n, size);
                          });
}

/// The way back: copies `bytes` bytes at `address` of shared memory, which are swizzled, to `to`.
[[gnu::always_inline]] inline void copy_from_swizzled(Swizzle swizzle, std::byte* to,
                                                      const std::byte* shared,
                                                      std::uint32_t address, std::uint32_t bytes) {
  if (swizzle == Swizzle::none) {
    std::memcpy(to, shared + address, bytes);
    return;
  }
  std::uint32_t done = 0;
  if (swizzling::moves_lines(swizzle, address)) {
    done = swizzling::for_lines(swizzle, address, bytes, [&](std::uint32_t at, std::uint32_t n) {
      std::memcpy(to + n, shared + at, 16);
    });
  }
  for_each_swizzled_piece(swizzle, address + done, bytes - done,
                          [&](std::uint32_t at, std::uint32_t n, std::uint32_t size) {
                            std::memcpy(to + done + n, shared + at, size);
                          });
}

/// Fills `bytes` bytes at `address` of shared memory, swizzled, with the 16 bits of `pattern`. Both
/// are even, unless the halves of `pattern` are alike.
[[gnu::always_inline]] inline void fill_swizzled(Swizzle swizzle, std::byte* shared,
                                                 std::uint32_t address, std::uint32_t bytes,
                                                 std::uint16_t pattern) {
  std::array<std::uint16_t, 8> chunk;
  chunk.fill(pattern);
  for_each_swizzled_piece(swizzle, address, bytes,
                          [&](std::uint32_t at, std::uint32_t, std::uint32_t size) {
                            std::memcpy(shared + at, chunk.data(), size);
                          });
}

}  // namespace warpgauge::emulator::machine::memory
