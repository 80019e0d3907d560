// Arguments of a launch in one buffer.
#pragma once

#include <vector>

#include "harness/emulator/runtime/state.h"

namespace warpgauge::emulator::driver {

/// Where the arguments of a kernel lie in the buffer that `extra` names: pairs of a key and a
/// value. Throws Failure for a buffer of another size. (A GPU takes one that is too small, too,
/// with whatever stands behind it.)
std::vector<void*> arguments_in(runtime::State& state, const void* kernel, void** extra);

}  // namespace warpgauge::emulator::driver
