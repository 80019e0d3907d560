// The command that lists what the build has.
#pragma once

#include <string>

namespace warpgauge {

/// Prints the ids that match, the large ones only if asked for; returns the exit code. Throws
/// std::invalid_argument if none does.
int list_cases(const std::string& filter, bool large);

/// Prints the rows of the catalogue with the families that cover each; returns the exit code, 2 if
/// a row is not covered or a family names a row that the catalogue lacks.
int list_rows();

/// Prints the architectures that the kernels were compiled for; returns the exit code.
int list_archs();

}  // namespace warpgauge
