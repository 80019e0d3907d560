// Where two accesses of a loop lie in its rounds.
#pragma once

#include <cstdint>

#include "harness/emulator/machine/core/code.h"

namespace warpgauge::emulator::machine::checks {

/// Whether two instructions of a body, by position, are in one loop with a barrier of the block
/// between them in the text. Two accesses that no barrier orders are of different rounds then: the
/// first one in the text is of the next round.
bool are_of_different_rounds(const Code& code, std::uint32_t first, std::uint32_t second);

}  // namespace warpgauge::emulator::machine::checks
