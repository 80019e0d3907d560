// Adds the options that attach, emulate and inspect share.
#include "harness/commands/program_options.h"

#include "harness/process/timeout_option.h"

namespace warpgauge::commands {

void add_judge_options(CLI::App* command, programs::JudgeOptions& options) {
  command
      ->add_option("--budgets", options.budgets,
                   "Budgets; their sections are globs of kernel names")
      ->type_name("FILE");
  command
      ->add_option("--project", options.project,
                   "Budgets of a whole project, below those (default: none)")
      ->type_name("FILE");
  command
      ->add_option("--kernels", options.kernels,
                   "Report only kernels whose name, with template arguments, matches this regular "
                   "expression")
      ->type_name("REGEX");
  command->add_option("--out", options.out, "Folder for facts.jsonl, results.json and summary.md")
      ->capture_default_str()
      ->type_name("DIR");
  command->add_flag("--strict", options.strict,
                    "Values better than their budget fail, so that budgets stay tight");
}

void add_program_options(CLI::App* command, programs::ProgramOptions& options) {
  add_judge_options(command, options);
  command
      ->add_option("--sample", options.choice.sample,
                   "Count at least N launches of each kernel, then no more of it")
      ->check(CLI::Range(1u, 1000000000u))
      ->default_str("all")
      ->type_name("N");
  command
      ->add_option("--limit-launches", options.choice.limit,
                   "Count the first N launches of each process, then no more")
      ->check(CLI::Range(1u, 1000000000u))
      ->default_str("all")
      ->type_name("N");
  command
      ->add_option("--skip", options.choice.skip,
                   "Do not count kernels whose name matches this glob (repeatable)")
      ->allow_extra_args(false)
      ->type_name("GLOB");
  add_program(command, options.command);
}

void add_launch_limit(CLI::App* command, programs::ProgramOptions& options,
                      const std::string& text) {
  process::add_timeout_option(*command, options.launch_limit, text);
}

}  // namespace warpgauge::commands
