// The options of commands that judge kernels by their names: attach, emulate, inspect.
#pragma once

#include "harness/commands/command_line.h"
#include "harness/programs/run_program.h"

namespace warpgauge::commands {

/// How kernels are judged by their names: --budgets, --project, --kernels, --out, --strict.
void add_judge_options(CLI::App* command, programs::JudgeOptions& options);
/// The same with the launches that are counted, and the program itself.
void add_program_options(CLI::App* command, programs::ProgramOptions& options);
/// --timeout, the limit of a launch, with this text.
void add_launch_limit(CLI::App* command, programs::ProgramOptions& options,
                      const std::string& text);

}  // namespace warpgauge::commands
