// Fragments of wmma, of which the machine code has several accesses.
#pragma once

#include "harness/emulator/counting/machine_flow.h"
#include "harness/emulator/counting/match.h"

namespace warpgauge::emulator::counting {

/// Of what was found of a fragment in one function, leaves one access of each copy. Leaves none and
/// sets Match::standing.difference if that is not whole copies of what the emulator counts.
void keep_one_of_each_copy(Match& match, const MachineFlow& machine);

}  // namespace warpgauge::emulator::counting
