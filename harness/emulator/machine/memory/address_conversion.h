// Instructions of the memory family that access no memory: conversions of addresses, fences, groups
// of asynchronous copies.
#pragma once

#include <cstdint>

#include "harness/emulator/machine/core/instruction.h"
#include "harness/emulator/machine/core/warp.h"

namespace warpgauge::emulator::machine::memory {

void execute_nothing(Warp& warp, const Instruction& instruction);
/// Instruction::flags of a fence, beside its scope (memory_flag): it orders for the async proxy,
/// too.
inline constexpr std::uint16_t kOfProxy = 1 << 0;
/// The fence orders the initialisation of mbarriers.
inline constexpr std::uint16_t kOfMbarriers = 1 << 1;
/// Orders this thread's accesses before it and behind it.
void execute_fence(Warp& warp, const Instruction& instruction);

/// 64-bit destination = source 0 + offset.
void execute_add_offset(Warp& warp, const Instruction& instruction);
/// 64-bit destination = 0.
void execute_zero(Warp& warp, const Instruction& instruction);

/// Instruction::flags of execute_is_in_window: the shared memory of this block only.
inline constexpr std::uint16_t kOfBlock = 1 << 8;
/// Predicate destination: is the generic address of source 0 in the window Instruction::flags?
/// Constant memory has no window: the allocation distinguishes global addresses.
void execute_is_in_window(Warp& warp, const Instruction& instruction);

void execute_commit_group(Warp& warp, const Instruction& instruction);
void execute_wait_group(Warp& warp,
                        const Instruction& instruction);  ///< offset: newest groups left
void execute_wait_all(Warp& warp, const Instruction& instruction);

}  // namespace warpgauge::emulator::machine::memory
