// Where an operand lies.
#pragma once

#include <cstdint>

namespace warpgauge::emulator::machine {

/// The alignment of operands in bytes: a cache line, as the widest vector instruction loads.
inline constexpr std::uint64_t kVectorAlignment = 64;

/// Where an operand lies. Every operand is a vector with one value for each lane, packed in the
/// operand's own width (32 x 4 bytes for .b32, 32 x 2 for .b16, ...), aligned to kVectorAlignment;
/// a predicate is one Mask. Immediates and special registers are such vectors too, so that handlers
/// need not distinguish kinds of operands.
struct OperandSlot {
  enum Base : std::uint32_t { frame, constants, specials, parameters };
  std::uint32_t base : 2;
  std::uint32_t offset : 30;  ///< bytes
};

}  // namespace warpgauge::emulator::machine
