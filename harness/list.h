// The commands that show cases.
#pragma once

#include <string>

namespace warpgauge {

/// Prints the ids that match; returns the exit code (2 if none does).
int list_cases(const std::string& filter);

/// Prints what the case called `id` costs; returns the exit code: 3 where only the compile-time
/// part could be told. Throws std::invalid_argument for an unknown id, with the nearest.
int explain_case(const std::string& id);

}  // namespace warpgauge
