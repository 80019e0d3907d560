// Handlers of the barriers of a block and of a warp.
#pragma once

#include <cstdint>

#include "harness/emulator/machine/core/instruction.h"
#include "harness/emulator/machine/core/warp.h"

namespace warpgauge::emulator::machine::control {

struct Block;

enum class BarrierOp : std::uint16_t { sync, arrive, vote_count, vote_all, vote_any };

// Instruction::flags: the operation, whether the number of threads is given (source 1), whether the
// predicate of a vote (source 2) is negated, and whether all lanes of a warp must execute it
// together. Source 0 is the number of the barrier.
inline constexpr std::uint16_t kBarrierOperation = 7;
inline constexpr std::uint16_t kBarrierCounted = 8;
inline constexpr std::uint16_t kBarrierNegated = 16;
inline constexpr std::uint16_t kBarrierAligned = 32;

/// bar, barrier.
void arrive(Warp& warp, const Instruction& instruction);
/// bar.warp.sync: source 0 has the member masks.
void sync_warp(Warp& warp, const Instruction& instruction);

/// Completes barriers for which only threads were missing that have exited.
void barriers_after_exit(Block& block);

}  // namespace warpgauge::emulator::machine::control
