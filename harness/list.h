// The command that lists cases.
#pragma once

#include <string>

namespace warpgauge {

/// Prints the ids that match; returns the exit code (2 if none does).
int list_cases(const std::string& filter);

}  // namespace warpgauge
