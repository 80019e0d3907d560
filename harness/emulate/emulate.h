// The command that runs any CUDA program on the emulator and shows the counts of its kernels.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace warpgauge::emulate {

struct EmulateOptions {
  std::vector<std::string> command;  ///< program and arguments
  std::string arch = "sm_90";
  std::filesystem::path json;  ///< gets counts and faults as JSON lines; empty: none
};

/// Runs the program, linked with the shared CUDA runtime, on the emulator and prints its counts,
/// the worst lines first, and its faults to stderr. Returns the program's exit code, 128 + N if
/// signal N ended it, and kFault if a kernel faulted, if the program could not be run, or if it
/// launched no kernel on the emulator.
int emulate_program(const EmulateOptions& options);

}  // namespace warpgauge::emulate
