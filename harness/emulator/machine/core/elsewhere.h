// Where the machine makes tests that must leave memory as it is.
#pragma once

#include <chrono>
#include <functional>

namespace warpgauge::emulator::machine {

/// Makes a test where it changes nothing here, as in a copy of the process. False if it does not
/// hold, or takes longer than the limit.
using Elsewhere =
    std::function<bool(std::chrono::milliseconds limit, const std::function<bool()>& test)>;

}  // namespace warpgauge::emulator::machine
