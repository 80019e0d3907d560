// Instructions in which the lanes of a warp work together: shfl, vote, match, redux, activemask,
// elect. The keys of the instruction sets' handlers, and the gathering of lanes for them.
#pragma once

#include <cstdint>

#include "harness/emulator/machine/control/engine.h"
#include "harness/emulator/machine/core/instruction.h"
#include "harness/emulator/machine/core/warp.h"
#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::control {

/// Names a handler. Operands: `destination`, `second_destination` (the predicate of shfl, match.all
/// and elect; a scratch mask if it is not wanted). For .sync forms source 3 has the member masks.
struct WarpOpKey {
  enum class Op : std::uint8_t {
    shuffle_up,  ///< sources: value, distance, clamp and segment mask
    shuffle_down,
    shuffle_butterfly,
    shuffle_index,
    vote_all,  ///< source 0: predicate, negated if kNegatedPredicate; destination: predicate
    vote_any,
    vote_uniform,
    vote_ballot,  ///< destination: .b32
    match_any32,  ///< source 0: value; destination: mask
    match_any64,
    match_all32,
    match_all64,
    reduce_add,  ///< source 0: .b32
    reduce_min_signed,
    reduce_max_signed,
    reduce_min_unsigned,
    reduce_max_unsigned,
    reduce_and,
    reduce_or,
    reduce_xor,
    reduce_min_float,  ///< kAbsolute, kNan
    reduce_max_float,
    active_mask,
    elect,  ///< destination: lane number; second: predicate
  };
  Op op;
};

/// Instruction::flags of these instructions.
namespace warp_op_flag {
inline constexpr std::uint16_t kSync = 1;        ///< there are member masks, in source 3
inline constexpr std::uint16_t kAllMembers = 2;  ///< they are the constant 0xffffffff
inline constexpr std::uint16_t kNegatedPredicate = 4;
inline constexpr std::uint16_t kAbsolute = 8;
inline constexpr std::uint16_t kNan = 16;
}  // namespace warp_op_flag

/// Lanes among `among` that name the same in source `n`, members or a barrier, as the first of
/// them.
Mask lanes_that_name(const Warp& warp, const Instruction& instruction, int n, Mask among);

/// The active lanes whose members have all come (those that have exited are not waited for). The
/// others are set aside, to look again when more lanes get here. May be empty.
Mask gather_lanes(Warp& warp, const Instruction& instruction);

/// Reports the first lane whose member mask, which it has in common with `lanes`, does not name it.
void check_members(const Warp& warp, const Instruction& instruction, Mask members, Mask lanes);

/// Reports a lane among `present` that takes the value of one that is not: `from` are the lanes
/// whose values they take, where `inside` says that it is not their own.
void check_shuffle(const Warp& warp, const Instruction& instruction, Mask present, Mask inside,
                   const std::uint32_t* from);

/// The lanes that execute a warp-level instruction now; the rest waits.
[[gnu::always_inline]] inline Mask present_lanes(Warp& warp, const Instruction& instruction) {
  const bool waits_for_nobody = (instruction.flags & warp_op_flag::kSync) == 0;
  const bool all_here =
      (instruction.flags & warp_op_flag::kAllMembers) != 0 && warp.active == warp.engine->live;
  if (waits_for_nobody) return warp.active;
  if (all_here) return warp.active;
  return gather_lanes(warp, instruction);
}

}  // namespace warpgauge::emulator::machine::control
