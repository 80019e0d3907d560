// Keys of conversions, by which the decoder of cvt selects the instruction sets' handlers.
#pragma once

#include <bit>
#include <cstdint>

#include "harness/emulator/ptx/type.h"

namespace warpgauge::emulator::machine::isa {

/// `rni` .. `rpi` round to an integral value, the others to the destination's precision; `rna` is
/// to nearest, ties away from zero.
enum class ConvertRounding : std::uint8_t { none, rn, rz, rm, rp, rna, rni, rzi, rmi, rpi };

namespace convert_option {
inline constexpr std::uint16_t kFtz = 1 << 0;
inline constexpr std::uint16_t kSat = 1 << 1;
inline constexpr std::uint16_t kSatfinite = 1 << 2;  ///< overflow gives the largest finite value
inline constexpr std::uint16_t kRelu = 1 << 3;
inline constexpr std::uint16_t kPack = 1 << 4;  ///< cvt.pack: `to` is of the parts
}  // namespace convert_option

/// Names a handler. Types of bits are not used; pairs (f16x2, e4m3x2, ...) as `to` of f32 read two
/// sources, the first for the upper half.
struct ConvertKey {
  ptx::Type to = ptx::Type::none, from = ptx::Type::none;
  ConvertRounding rounding = ConvertRounding::none;
  std::uint16_t options = 0;
};

/// Instruction::flags of a conversion: the bytes of the registers that are read and written, 1 to
/// 8, which may be wider than the types. Held as their logarithms.
constexpr std::uint16_t size_flags(unsigned source_bytes, unsigned destination_bytes) {
  return static_cast<std::uint16_t>(std::countr_zero(source_bytes) |
                                    std::countr_zero(destination_bytes) << 4);
}
// Inlined always, for files of several instruction sets share them.
[[gnu::always_inline]] constexpr int source_bytes(std::uint16_t flags) { return 1 << (flags & 7); }
[[gnu::always_inline]] constexpr int destination_bytes(std::uint16_t flags) {
  return 1 << (flags >> 4 & 7);
}

}  // namespace warpgauge::emulator::machine::isa
