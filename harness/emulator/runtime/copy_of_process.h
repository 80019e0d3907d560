// Tests that change memory, made in a copy of the process.
#pragma once

#include <chrono>
#include <functional>

namespace warpgauge::emulator::runtime {

/// Whether a test holds, which is made in a copy of the process: what it does to memory is gone
/// with it. False, too, if it takes longer than the limit, or there can be no copy.
bool holds_in_copy(std::chrono::milliseconds limit, const std::function<bool()>& test);

}  // namespace warpgauge::emulator::runtime
