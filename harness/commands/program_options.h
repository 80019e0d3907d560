// The options of commands that run a program and judge its kernels: attach, emulate.
#pragma once

#include "harness/commands/command_line.h"
#include "harness/programs/run_program.h"

namespace warpgauge::commands {

void add_program_options(CLI::App* command, programs::ProgramOptions& options);

}  // namespace warpgauge::commands
