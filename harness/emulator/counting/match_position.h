// Where the machine code has the accesses of a kernel, against where the PTX has them.
#pragma once

#include <span>
#include <vector>

#include "harness/emulator/counting/machine_flow.h"
#include "harness/emulator/counting/match.h"
#include "harness/emulator/counting/ptx_flow.h"

namespace warpgauge::emulator::counting {

/// Sets Match::standing of those of `matches` that were found. `flows` are those of the module's
/// functions.
///
/// Loops and branches of both are the same by the lines of the branches. An access counts in the
/// machine code what it does in the PTX if it stands in the same loops, below the same branches,
/// and as often as its neighbours. Of several copies of one (a loop that is unrolled and has a
/// rest, both ways of a branch) that holds where the lanes of a warp go one way.
void compare_places(std::vector<Match>& matches, std::span<const PtxFlow> flows,
                    const MachineFlow& machine);

}  // namespace warpgauge::emulator::counting
