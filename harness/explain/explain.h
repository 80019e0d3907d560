// Explains a case line by line: where its requests, wavefronts and sectors come from.
#pragma once

#include <string>

namespace warpgauge::explain {

/// Prints the compile-time values of the case called `id`, a line per architecture of the build,
/// and its source lines with what each costs, worst first. Returns the exit code: 3 if only the
/// compile-time values are known. The emulator runs the case as `arch` (empty: its default). Throws
/// std::invalid_argument for an unknown id or architecture, with the nearest.
int explain_case(const std::string& id, const std::string& arch);

/// Counts the case on the emulator, which has addresses, and returns what the page of `explain
/// --html` shows, as JSON (explain.schema.json): every line with every metric, the source, the
/// machine code and the pictures of the worst accesses. Throws as explain_case(),
/// metrics::Unmeasured for a case that cannot be counted, and std::logic_error on a GPU.
std::string case_json(const std::string& id, const std::string& arch);

}  // namespace warpgauge::explain
