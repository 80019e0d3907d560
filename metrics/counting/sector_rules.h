// The rules of accesses to global and local memory, over any way to count the units that the lanes
// touch: counting_rules.cpp counts lane by lane, the emulator all lanes at once.
#pragma once

#include <cstdint>

namespace warpgauge::metrics {

inline constexpr int kLineBits = 7;    // 128 bytes
inline constexpr int kSectorBits = 5;  // 32 bytes

/// How many different values the addresses have without their lowest bits: without some of them,
/// and without more.
struct UnitCounts {
  std::uint32_t fine = 0, coarse = 0;
};

/// global_cost() of so many lanes, a metrics::GlobalCost. `count(fine_bits, coarse_bits)` returns
/// their UnitCounts.
template <typename Cost, typename Count>
constexpr Cost global_cost_of_units(int width, std::uint32_t lanes, Count count) {
  const UnitCounts units = count(kSectorBits, kLineBits);
  const std::uint32_t least = (lanes * static_cast<std::uint32_t>(width) + 31) / 32;
  return {.sectors = units.fine,
          .ideal = units.fine < least ? units.fine : least,
          .tags = units.coarse};
}

/// local_sectors(). `count(bytes)` returns how many different units of so many bytes each 8
/// neighbouring lanes touch, added up: a sector has a word of theirs each, and the words of a wide
/// access come together.
template <typename Count>
constexpr std::uint32_t local_sectors_of_units(int width, Count count) {
  const int bytes = width < 4 ? 4 : width;
  return count(bytes) * (static_cast<std::uint32_t>(bytes) / 4);
}

}  // namespace warpgauge::metrics
