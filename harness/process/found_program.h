// Programs by their names.
#pragma once

#include <filesystem>
#include <string>

namespace warpgauge::process {

/// The program that the shell would run; empty if there is none.
std::filesystem::path found_program(const std::string& name);

/// A program of the CUDA toolkit: that in PATH, else in $CUDA_HOME/bin; empty if there is none.
std::filesystem::path found_in_toolkit(const std::string& name);

}  // namespace warpgauge::process
