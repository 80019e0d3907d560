// The output of another program.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace warpgauge::process {

/// Runs a command, by found_program(), to its end and returns its output without the last
/// newlines; nullopt if it cannot be run or fails, or is ended as it takes longer than the limit or
/// prints more than 64 MiB. Drops its stderr.
std::optional<std::string> output_of(std::vector<std::string> command,
                                     std::chrono::seconds limit = std::chrono::minutes(10));

}  // namespace warpgauge::process
