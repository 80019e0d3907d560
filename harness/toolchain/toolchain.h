// The command that compares what several compilers make of the same sources.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/diff/diff.h"
#include "harness/outcome/exit_code.h"

namespace warpgauge::toolchain {

struct ToolchainOptions {
  std::vector<std::filesystem::path> toolkits;  ///< the first is A of each comparison
  std::vector<std::filesystem::path> sources;   ///< PTX (.ptx) and CUDA (.cu)
  std::vector<std::string> archs;               ///< names; empty: the .target of PTX
  std::vector<std::string> arguments;           ///< arguments of the compilers
  bool emulate = false;                         ///< build programs, and run them on the emulator
  std::vector<std::string> program_arguments;   ///< arguments of those programs
  std::chrono::seconds time_limit{600};         ///< for each compilation, and each program
  std::filesystem::path out;                    ///< keeps what is made; empty: nothing is kept
  diff::DiffOptions diff;                       ///< how they are compared
};

/// Compiles the sources by each toolkit, and prints what changed from the first to each other one.
/// Returns the worst exit code of the comparisons (diff_runs()). Throws std::runtime_error for what
/// cannot be compiled or fails to run, std::invalid_argument for options that make no sense.
outcome::ExitCode toolchain(const ToolchainOptions& options);

}  // namespace warpgauge::toolchain
