// Explains a case line by line: where its requests, wavefronts and sectors come from.
#pragma once

#include <filesystem>
#include <string>

namespace warpgauge::explain {

/// Prints the compile-time values of the case called `id`, a line per architecture of the build,
/// and its source lines with what each costs, worst first. Returns the exit code: 3 if only the
/// compile-time values are known. The emulator runs the case as `arch` (empty: its default). Throws
/// std::invalid_argument for an unknown id or architecture, with the nearest.
int explain_case(const std::string& id, const std::string& arch);

/// Writes the same of every line and metric into a file as JSON, with the source, the machine code
/// and the pictures of the worst accesses: what the page of `explain --html` shows
/// (explain.schema.json). Only on the emulator, which has
/// addresses. Returns and throws as explain_case().
int write_case(const std::string& id, const std::string& arch, const std::filesystem::path& path);

}  // namespace warpgauge::explain
