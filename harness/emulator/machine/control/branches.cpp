// Branches and traps.
#include "harness/emulator/machine/control/branches.h"

#include <bit>

#include "harness/emulator/machine/control/engine.h"

namespace warpgauge::emulator::machine::control {
namespace {

BranchWays& ways_at(const WarpEngine& engine, const Instruction& instruction) {
  return engine.counts.branches[instruction.offset];
}

// Part of the fragment jumps. The part that is further back in the code goes first.
void diverge(Warp& warp, const Instruction& instruction, const Instruction* target) {
  ++ways_at(*warp.engine, instruction).divided;
  if (target > &instruction) {
    set_aside(warp, warp.active, target);
  } else {
    set_aside(warp, warp.mask & ~warp.active, warp.next);
    warp.next = target;
  }
}

void branch(Warp& warp, const Instruction& instruction) {
  const auto* const target = static_cast<const Instruction*>(instruction.detail);
  if (warp.active == warp.mask) [[likely]] {
    warp.next = target;
  } else {
    diverge(warp, instruction, target);
  }
}

// Fragments that wait further on may be met again after a jump back.
void branch_back(Warp& warp, const Instruction& instruction) {
  branch(warp, instruction);
  if (warp.engine->unordered) [[unlikely]]
    ask_scheduler(warp);
}

void branch_back_polling(Warp& warp, const Instruction& instruction) {
  branch_back(warp, instruction);
  poll(warp);
}

Mask equal_lanes(const std::uint32_t* values, Mask among, std::uint32_t value) {
  Mask equal = 0;
  for (Mask left = among; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (values[lane] == value) equal |= Mask{1} << lane;
  }
  return equal;
}

template <Execute kBranch>
void uncounted(Warp& warp, const Instruction& instruction) {
  --warp.engine->counts.steps;
  kBranch(warp, instruction);
}

std::uint32_t lacking(Mask lanes) { return kLaneGroups - lane_groups(lanes); }

void count_groups(BranchWays& ways, Mask came, Mask took) {
  if (came == kAllLanes && (took == came || took == 0)) return;
  ways.lacking += lacking(came);
  if (took != 0) ways.lacking_taken += lacking(took);
  if (took != came) ways.lacking_untaken += lacking(came & ~took);
}

/// Runs also where no lane takes the branch.
template <Execute kBranch>
void watched(Warp& warp, const Instruction& instruction) {
  BranchWays& ways = ways_at(*warp.engine, instruction);
  ++ways.warps;
  warp.active = warp.mask & guard_of(warp, instruction);
  count_groups(ways, warp.mask, warp.active);
  if (warp.active == 0) return;
  ++ways.taken;
  kBranch(warp, instruction);
}

}  // namespace

constinit const Branches kBranches = {branch, branch_back, branch_back_polling};
constinit const Branches kJumps = {uncounted<branch>, uncounted<branch_back>,
                                   uncounted<branch_back_polling>};

constinit const Branches kWatched = {watched<branch>, watched<branch_back>,
                                     watched<branch_back_polling>};

void branch_by_index(Warp& warp, const Instruction& instruction) {
  const auto& targets = static_cast<const BranchTable*>(instruction.detail)->targets;
  const std::uint32_t* const index = source<std::uint32_t>(warp, instruction, 0);
  int ways = warp.active == warp.mask ? 0 : 1;
  for (Mask left = warp.active; left != 0;) {
    const std::uint32_t wanted = index[std::countr_zero(left)];
    const Mask lanes = equal_lanes(index, left, wanted);
    left &= ~lanes;
    if (wanted >= targets.size()) {
      fault(warp, instruction, lanes, Fault::Kind::illegal_instruction,
            "brx.idx with an index that is not in its list of targets");
    }
    ++ways;
    if (lanes == warp.mask) {
      warp.next = targets[wanted];
    } else {
      set_aside(warp, lanes, targets[wanted]);
    }
  }
  if (ways > 1) ++ways_at(*warp.engine, instruction).divided;
  ask_scheduler(warp);
}

void do_nothing(Warp&, const Instruction&) {}

void trap(Warp& warp, const Instruction& instruction) {
  fault(warp, instruction, warp.active, Fault::Kind::trap, "trap instruction (__trap, abort)");
}

}  // namespace warpgauge::emulator::machine::control
