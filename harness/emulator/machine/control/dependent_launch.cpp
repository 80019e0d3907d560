// griddepcontrol, for the checks.
#include "harness/emulator/machine/control/dependent_launch.h"

#include "harness/emulator/machine/checks/history.h"
#include "harness/emulator/machine/core/warp.h"
#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::control {

void let_dependents_begin(Warp& warp, const Instruction&) {
  if (checks::History* const history = warp.memory->history) history->let_dependents_begin();
}

void wait_for_dependencies(Warp& warp, const Instruction&) {
  if (checks::History* const history = warp.memory->history) {
    history->wait_for_dependencies(warp.number);
  }
}

}  // namespace warpgauge::emulator::machine::control
