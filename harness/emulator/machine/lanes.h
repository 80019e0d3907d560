// The lanes of a warp.
#pragma once

#include <cstdint>

namespace warpgauge::emulator::machine {

inline constexpr int kLanes = 32;
/// One bit a lane, lane 0 lowest.
using Mask = std::uint32_t;
inline constexpr Mask kAllLanes = 0xffffffff;

}  // namespace warpgauge::emulator::machine
