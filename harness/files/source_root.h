// Paths relative to the source tree, for people and CI systems.
#pragma once

#include <string>
#include <vector>

namespace warpgauge::files {

/// `file` relative to the source root of this build where it lies below it, else unchanged.
std::string relative_to_root(const std::string& file);

/// All lines of a source file, given as in facts; empty if the file cannot be read.
std::vector<std::string> source_lines(const std::string& file);

/// The text of a line of a source file (leading blanks removed), given as in facts; empty if the
/// file cannot be read.
std::string source_text(const std::string& file, int line);

}  // namespace warpgauge::files
