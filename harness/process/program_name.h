// The name of the running program, for help and messages.
#pragma once

#include <string>
#include <string_view>

namespace warpgauge::process {

/// Ends the name of an emulated program: warpgauge-emulated is warpgauge on the emulator.
inline constexpr std::string_view kEmulatedSuffix = "-emulated";

/// The name that this program was started as, without folder and kEmulatedSuffix.
std::string program_name();

/// The name of the gauge that this program belongs to: of my-gauge-check and my-gauge-bench it is
/// my-gauge, if that lies beside them; else the program's own.
std::string gauge_name();

}  // namespace warpgauge::process
