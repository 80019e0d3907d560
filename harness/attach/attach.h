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
  std::filesystem::path project;     ///< budgets of a whole project, below those; empty: none
  std::string kernels;               ///< regular expression of the kernels to report; empty: all
  std::filesystem::path out = "out";
  std::uint64_t sample = 0;       ///< launches of each kernel that are counted; 0: all
  std::vector<std::string> skip;  ///< globs of kernels that are launched while nothing is counted
  bool strict = false;            ///< values better than their budget fail
};

/// Runs the program with the library injected, judges the counts of its kernels, and writes
/// facts.jsonl and summary.md. Prints to stderr, because stdout is the program's. A program that
/// fails is a fault, even if its kernels are within budget. Throws on errors before the program
/// runs.
outcome::ExitCode attach_to_program(const AttachOptions& options);

}  // namespace warpgauge::attach
