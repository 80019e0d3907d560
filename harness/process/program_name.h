// What the running program is called, in help and in messages.
#pragma once

#include <string>

namespace warpgauge {

/// The name that this program was started as, without folder; its twin on the emulator goes by the
/// same name.
std::string program_name();

/// The name of the gauge that this program belongs to: of my-gauge-check and my-gauge-bench it is
/// my-gauge, if that lies beside them; else the program's own.
std::string gauge_name();

}  // namespace warpgauge
