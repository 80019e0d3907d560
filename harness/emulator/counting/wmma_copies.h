// Fragments of wmma: the machine code has several accesses of each.
#pragma once

#include "harness/emulator/counting/machine_flow.h"
#include "harness/emulator/counting/match.h"

namespace warpgauge::emulator::counting {

/// Leaves one access of each copy, among those found of a fragment in one function. Leaves none and
/// sets Match::standing.difference if that is not whole copies of what the emulator counts.
void keep_one_of_each_copy(Match& match, const MachineFlow& machine);

}  // namespace warpgauge::emulator::counting
