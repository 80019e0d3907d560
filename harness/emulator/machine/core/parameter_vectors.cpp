// Vectors of kernel parameters.
#include "harness/emulator/machine/core/parameter_vectors.h"

#include <cstring>

#include "harness/emulator/machine/core/lanes.h"

namespace warpgauge::emulator::machine {

OperandSlot ParameterVectors::add(std::uint64_t offset, int bytes) {
  for (const Entry& entry : entries_) {
    if (entry.offset == offset && entry.bytes == bytes) return entry.slot;
  }
  const OperandSlot slot = {OperandSlot::parameters, bytes_};
  entries_.push_back({offset, bytes, slot});
  constexpr std::uint32_t kAlignment = kVectorAlignment;
  bytes_ += (static_cast<std::uint32_t>(bytes * kLanes) + kAlignment - 1) / kAlignment * kAlignment;
  return slot;
}

void ParameterVectors::fill(std::byte* vectors, std::span<const std::byte> parameters) const {
  for (const auto& [offset, bytes, slot] : entries_) {
    const auto size = static_cast<std::size_t>(bytes);
    const std::byte* const value = parameters.subspan(offset, size).data();
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      std::memcpy(vectors + slot.offset + lane * size, value, size);
    }
  }
}

}  // namespace warpgauge::emulator::machine
