// Fill and rounding of the values that a tensor load gives, as an H200 does it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "harness/emulator/machine/memory/tensor_map.h"

namespace warpgauge::emulator::machine::memory {

/// The fill of each 16 bits beside the tensor. NaN is 0x7ff7 in each 16 bits, of all
/// types, which FMA instructions with .oob take for 0.
constexpr std::uint16_t fill_pattern(TensorMap::Fill fill) {
  return fill == TensorMap::Fill::nan ? 0x7ff7 : 0;
}

/// Whether loads of this type change values: they round to TF32. f32_ftz is loaded as it is.
constexpr bool changes_when_loaded(TensorMap::Type type) {
  return type == TensorMap::Type::tf32 || type == TensorMap::Type::tf32_ftz;
}

/// A value of such a type as it is loaded: rounded to nearest even; NaN becomes 0x7fffe000.
constexpr std::uint32_t rounded_to_tf32(std::uint32_t bits) {
  constexpr std::uint32_t kMagnitude = 0x7fffffff, kInfinity = 0x7f800000, kDropped = 0x1fff;
  if ((bits & kMagnitude) > kInfinity) return 0x7fffe000;
  const std::uint32_t odd = bits >> 13 & 1;
  return (bits + kDropped / 2 + odd) & ~kDropped;
}

/// Copies `bytes` bytes, which are whole values, rounded to TF32.
inline void copy_rounded_to_tf32(std::byte* to, const std::byte* from, std::uint32_t bytes) {
  for (std::uint32_t i = 0; i < bytes; i += sizeof(std::uint32_t)) {
    std::uint32_t value;
    std::memcpy(&value, from + i, sizeof value);
    value = rounded_to_tf32(value);
    std::memcpy(to + i, &value, sizeof value);
  }
}

}  // namespace warpgauge::emulator::machine::memory
