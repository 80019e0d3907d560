// The variables by which a command has the library of this folder keep others.
#pragma once

namespace warpgauge::environment {

/// The names of the variables that are kept, with blanks between.
inline constexpr const char* kKeptVariables = "WARPGAUGE_KEPT_VARIABLES";
/// The libraries that stay in LD_PRELOAD, with colons between; the library of this folder first.
inline constexpr const char* kKeptLibraries = "WARPGAUGE_KEPT_LIBRARIES";
/// A file that gets the path of each program that is started, a line each.
inline constexpr const char* kStartedPrograms = "WARPGAUGE_STARTED_PROGRAMS";

}  // namespace warpgauge::environment
