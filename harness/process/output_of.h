// The output of another program.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace warpgauge::process {

/// Runs a command, by found_program(), to its end and returns its output without the last
/// newlines; nullopt if it cannot be run or fails. Drops its stderr.
std::optional<std::string> output_of(std::vector<std::string> command);

}  // namespace warpgauge::process
