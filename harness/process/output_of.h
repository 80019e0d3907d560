// What another program prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace warpgauge {

/// Runs a command, found as the shell finds it, to its end and returns what it prints, without its
/// last newlines; nullopt if it cannot be run or fails. What it says on stderr is dropped.
std::optional<std::string> output_of(std::vector<std::string> command);

}  // namespace warpgauge
