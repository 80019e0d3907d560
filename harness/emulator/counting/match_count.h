// How often the machine code has an access, against the others beside it.
#pragma once

#include <vector>

#include "harness/emulator/counting/machine_flow.h"
#include "harness/emulator/counting/match.h"

namespace warpgauge::emulator::counting {

/// Sets Match::standing.difference of those that ptxas has more or less often than the others of
/// one block of the PTX.
void compare_neighbours(const std::vector<Match*>& block, const MachineFlow& machine);

/// Whether one execution of the machine code's stands for one of `access`, which is in no loop, or
/// as often in the machine code as another of its loop for which that is certain.
bool is_once(const Match& access, const std::vector<Match>& matches, const MachineFlow& machine);

}  // namespace warpgauge::emulator::counting
