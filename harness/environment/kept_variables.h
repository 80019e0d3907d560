// The variables by which a command has the library of this folder keep others.
#pragma once

namespace warpgauge::environment {

/// The names of the variables that are kept, with blanks between.
inline constexpr const char* kKeptVariables = "WARPGAUGE_KEPT_VARIABLES";
/// The libraries that stay in LD_PRELOAD, with colons between; the library of this folder first.
inline constexpr const char* kKeptLibraries = "WARPGAUGE_KEPT_LIBRARIES";
/// A file that gets the path of each program, a line each, that loads no such library, because it
/// is static or has the rights of another user.
inline constexpr const char* kWithoutLibraries = "WARPGAUGE_WITHOUT_LIBRARIES";

}  // namespace warpgauge::environment
