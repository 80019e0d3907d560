// How lanes come together for warp-level instructions.
#include "harness/emulator/machine/control/warp_ops.h"

#include <bit>

#include "harness/emulator/machine/checks/access_findings.h"
#include "harness/emulator/machine/checks/history.h"
#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::control {

Mask lanes_that_name(const Warp& warp, const Instruction& instruction, int n, Mask among) {
  if (instruction.sources[n].base == OperandSlot::constants) return among;  // an immediate
  const std::uint32_t* const named = source<std::uint32_t>(warp, instruction, n);
  const std::uint32_t wanted = named[std::countr_zero(among)];
  std::uint32_t differs = 0;  // of any lane: the loop is one for vectors
  for (int lane = 0; lane < kLanes; ++lane) differs |= named[lane] ^ wanted;
  if (differs == 0) return among;
  Mask lanes = 0;
  for (Mask left = among; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (named[lane] == wanted) lanes |= Mask{1} << lane;
  }
  return lanes;
}

Mask gather_lanes(Warp& warp, const Instruction& instruction) {
  const std::uint32_t* const masks = source<std::uint32_t>(warp, instruction, 3);
  Mask complete = 0;
  for (Mask left = warp.active; left != 0;) {
    const Mask members = masks[std::countr_zero(left)];
    const Mask lanes = lanes_that_name(warp, instruction, 3, left);
    left &= ~lanes;
    check_members(warp, instruction, members, lanes);
    if ((members & warp.engine->live & ~lanes) == 0) {
      complete |= lanes;
    } else {
      set_aside(warp, lanes, &instruction, Fragment::State::waits_for_lanes, members);
    }
  }
  return complete;
}

void check_members(const Warp& warp, const Instruction& instruction, Mask members, Mask lanes) {
  const Mask outside = lanes & ~members;
  if (outside == 0 || !warp.memory->checks_shuffles) return;
  report_mask(*warp.memory->findings, act_of(warp, instruction, std::countr_zero(outside)),
              members);
}

void check_shuffle(const Warp& warp, const Instruction& instruction, Mask present, Mask inside,
                   const std::uint32_t* from) {
  for (Mask left = present & inside; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if ((present >> from[lane] & 1) != 0) continue;
    return report_shuffle(*warp.memory->findings, act_of(warp, instruction, lane),
                          static_cast<int>(from[lane]));
  }
}

}  // namespace warpgauge::emulator::machine::control
