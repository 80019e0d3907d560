// Moves bytes to and from swizzled shared memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "metrics/counting/swizzle.h"

namespace warpgauge::emulator::machine::memory {

using metrics::kSwizzleLine, metrics::kSwizzles, metrics::Swizzle, metrics::swizzle_bits,
    metrics::swizzle_period, metrics::swizzle_span, metrics::swizzled;

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
