// A warp: 32 lanes that execute together, and their registers.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "harness/emulator/machine/core/instruction.h"

namespace warpgauge::emulator::machine {

struct Code;

namespace control {
struct WarpEngine;
}
namespace memory {
struct MemoryContext;
}

/// A warp as the handlers of instructions see it. `active` is never empty while one runs: the
/// lanes of the running fragment whose guard holds. Only these lanes' values may be changed.
struct Warp {
  /// By OperandSlot::Base: registers of the running function, constants, specials, parameters.
  std::byte* bases[4];
  Mask active = 0;                    ///< lanes that execute the present instruction
  Mask mask = 0;                      ///< lanes of the running fragment
  Mask carry = 0;                     ///< CC.CF of each lane (add.cc, addc, ...)
  const Instruction* next = nullptr;  ///< to be executed after the present one; branches change it
  /// The scheduler decides before an instruction at or after `limit`. nullptr: at once.
  const Instruction* limit = nullptr;
  control::WarpEngine* engine = nullptr;    ///< scheduling, barriers, calls: see engine.h
  memory::MemoryContext* memory = nullptr;  ///< for loads and stores: see context.h
  const Code* code = nullptr;               ///< the running function's; nullptr: not known
  std::uint32_t number = 0;                 ///< in its block
  std::uint64_t block = 0;                  ///< the number of its block in the grid
};

/// Calls `function` with the number of each lane that executes the present instruction.
template <typename Function>
void for_active_lanes(const Warp& warp, Function function) {
  for (Mask rest = warp.active; rest != 0; rest &= rest - 1) function(std::countr_zero(rest));
}

/// The lanes whose guard holds.
[[gnu::always_inline]] inline Mask guard_of(const Warp& warp, const Instruction& instruction) {
  if (!instruction.guarded && !instruction.sees_to_guard) return ~Mask{0};
  const OperandSlot slot = instruction.guard;
  const Mask guard = *reinterpret_cast<const Mask*>(warp.bases[slot.base] + slot.offset);
  return instruction.guard_negated ? ~guard : guard;
}

template <typename T>
[[gnu::always_inline]] inline const T* source(const Warp& warp, const Instruction& instruction,
                                              int n) {
  const OperandSlot slot = instruction.sources[n];
  return reinterpret_cast<const T*>(warp.bases[slot.base] + slot.offset);
}

template <typename T>
[[gnu::always_inline]] inline T* destination(const Warp& warp, const Instruction& instruction) {
  return reinterpret_cast<T*>(warp.bases[OperandSlot::frame] + instruction.destination.offset);
}

template <typename T>
[[gnu::always_inline]] inline T* second_destination(const Warp& warp,
                                                    const Instruction& instruction) {
  return reinterpret_cast<T*>(warp.bases[OperandSlot::frame] +
                              instruction.second_destination.offset);
}

}  // namespace warpgauge::emulator::machine
