// The command that counts the kernels of any CUDA program, as it is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/outcome/exit_code.h"

namespace warpgauge::attach {

struct AttachOptions {
  std::vector<std::string> command;  ///< program and arguments
  std::filesystem::path budgets;     ///< sections are globs of kernel names; empty: the defaults
  std::string kernels;               ///< regular expression of the kernels to tell of; empty: all
  std::filesystem::path out = "out";
  std::uint64_t sample = 0;       ///< launches of each kernel that are counted; 0: all
  std::vector<std::string> skip;  ///< globs of kernels that are launched while nothing is counted
  bool strict = false;            ///< values better than their budget fail
};

/// Runs the program with the library injected, judges what its kernels did, and writes facts.jsonl
/// and summary.md. Everything is told on stderr: stdout is the program's. A program that fails is a
/// fault, whatever its kernels did. Throws what stops it before the program runs.
outcome::ExitCode attach_to_program(const AttachOptions& options);

}  // namespace warpgauge::attach
