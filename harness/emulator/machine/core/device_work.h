// The work that kernels ask of the device runtime: other kernels (dynamic parallelism), copies and
// fills. It is done when the grid that asked for it has ended.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace warpgauge::emulator::machine {

struct DeviceLaunch {
  std::string kernel;  ///< its name in the module of the kernel that launches it
  std::array<std::uint32_t, 3> grid{}, block{};
  std::uint64_t dynamic_shared_bytes = 0;
  std::vector<std::byte> parameters = {};
};

struct DeviceCopy {
  std::byte* destination = nullptr;
  const std::byte* source = nullptr;
  std::uint64_t bytes = 0;
};

struct DeviceFill {
  std::byte* begin = nullptr;
  std::uint8_t value = 0;
  std::uint64_t bytes = 0;
};

/// Functions of the device runtime have the names of the CUDA runtime's with this in place of
/// "cuda".
inline constexpr std::string_view kDeviceRuntimePrefix = "__cudaCDP2";

using DeviceWork = std::variant<DeviceLaunch, DeviceCopy, DeviceFill>;

}  // namespace warpgauge::emulator::machine
