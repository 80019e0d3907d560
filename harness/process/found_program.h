// Programs by their names.
#pragma once

#include <filesystem>
#include <string>

namespace warpgauge::process {

/// The program that the shell would run, by its absolute path; empty if there is none. A folder in
/// PATH that is not absolute counts for nothing: it is another one wherever the command runs.
std::filesystem::path found_program(const std::string& name);

/// A program of the CUDA toolkit: that in PATH, else in $CUDA_HOME/bin; empty if there is none.
std::filesystem::path found_in_toolkit(const std::string& name);

/// The path of a file as a program's argument: "./-v" for "-v", which would be an option.
std::string file_argument(const std::filesystem::path& file);

}  // namespace warpgauge::process
