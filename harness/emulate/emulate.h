// The command that counts the kernels of any CUDA program on the emulator.
#pragma once

#include <string>

#include "harness/outcome/exit_code.h"
#include "harness/programs/run_program.h"

namespace warpgauge::emulate {

/// Runs the program, which must be linked with the shared CUDA runtime, on the emulator as `arch`:
/// see programs::run_program().
outcome::ExitCode emulate_program(const programs::ProgramOptions& options, const std::string& arch);

}  // namespace warpgauge::emulate
