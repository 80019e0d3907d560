// The lanes of a warp.
#pragma once

#include <cstdint>

namespace warpgauge::emulator::machine {

inline constexpr int kLanes = 32;
/// One bit a lane, lane 0 lowest.
using Mask = std::uint32_t;
inline constexpr Mask kAllLanes = 0xffffffff;
inline constexpr int kLaneGroups = 4;

/// Groups of 8 lanes with some of these.
[[gnu::always_inline]] constexpr std::uint32_t lane_groups(Mask lanes) {
  lanes |= lanes >> 4;
  lanes |= lanes >> 2;
  lanes |= lanes >> 1;
  return (lanes & 0x01010101) * 0x01010101 >> 24;
}

}  // namespace warpgauge::emulator::machine
