// The command that counts the kernels of any CUDA program, as it is.
#pragma once

#include "harness/outcome/exit_code.h"
#include "harness/programs/run_program.h"

namespace warpgauge::attach {

/// Runs the program on the GPU with the library injected: see programs::run_program().
outcome::ExitCode attach_to_program(const programs::ProgramOptions& options);

}  // namespace warpgauge::attach
