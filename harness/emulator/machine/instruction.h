// Instructions as the machine executes them: decoded once, one function call each.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace warpgauge::emulator::machine {

inline constexpr int kLanes = 32;
/// One bit a lane, lane 0 lowest.
using Mask = std::uint32_t;
inline constexpr Mask kAllLanes = 0xffffffff;

struct Warp;
struct Instruction;
using Execute = void (*)(Warp&, const Instruction&);

/// Where an operand lies. Every operand is a vector with one value for each lane, packed in the
/// operand's own width (32 x 4 bytes for .b32, 32 x 2 for .b16, ...), aligned to 64 bytes; a
/// predicate is one Mask. Immediates and special registers are such vectors too, so that whoever
/// executes an instruction never asks what kind of operand it has.
struct Slot {
  enum Base : std::uint32_t { frame, constants, specials };
  std::uint32_t base : 2;
  std::uint32_t offset : 30;  ///< bytes
};

/// One instruction of a function's decoded code.
struct Instruction {
  Execute execute = nullptr;
  Slot destination{};
  Slot second_destination{};  ///< q of p|q; shfl's predicate; further results where `detail` says
  Slot sources[4]{};
  Slot guard{};  ///< a predicate; means something only if `guarded`
  bool guarded = false;
  bool guard_negated = false;
  std::uint16_t flags = 0;  ///< of the family of instructions that `execute` belongs to
  std::uint32_t index = 0;  ///< position in ptx::Function::body: source line, counters, messages
  std::int64_t offset = 0;  ///< added to an address; or a number that the family needs
  const void* detail = nullptr;  ///< what else the family needs; lives as long as the code
};

}  // namespace warpgauge::emulator::machine
