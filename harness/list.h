// The command that lists what the build has.
#pragma once

#include <string>

namespace warpgauge {

/// Prints the ids that match; returns the exit code (2 if none does).
int list_cases(const std::string& filter);

/// Prints the architectures that the kernels were compiled for; returns the exit code.
int list_archs();

}  // namespace warpgauge
