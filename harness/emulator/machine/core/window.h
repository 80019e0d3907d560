// The windows of generic addresses.
#pragma once

#include <cstdint>

namespace warpgauge::emulator::machine {

/// Addresses of 64 bits say which memory they mean by their highest 16 bits ("generic").
enum class Window : std::uint16_t {
  global = 0,
  shared = 1,
  local = 2,
  constant = 3,
  parameter = 4
};
inline constexpr int kWindowShift = 48;
constexpr std::uint64_t window_base(Window window) {
  return static_cast<std::uint64_t>(window) << kWindowShift;
}
/// Of a generic address. One beyond those above names no memory.
constexpr Window window_of(std::uint64_t address) {
  return static_cast<Window>(address >> kWindowShift);
}

}  // namespace warpgauge::emulator::machine
