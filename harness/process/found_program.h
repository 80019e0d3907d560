// Programs by their names.
#pragma once

#include <filesystem>
#include <string>

namespace warpgauge::process {

/// As the shell finds it; empty if there is no such program.
std::filesystem::path found_program(const std::string& name);

}  // namespace warpgauge::process
