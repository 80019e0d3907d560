// The commands of the command line tool that run somebody's program: emulate and attach. For its
// main(): needs CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/attach/attach.h"
#include "harness/commands/help_text.h"
#include "harness/emulate/emulate.h"

namespace warpgauge {

/// The program that such a command runs, and its arguments.
inline void add_program(CLI::App* command, std::vector<std::string>& words) {
  command->add_option("command", words, "The program to run, and its arguments")
      ->required()
      ->type_name("-- PROGRAM [ARGUMENT...]");
}

inline void add_emulate(CLI::App& app, std::function<int()>& action) {
  auto options = std::make_shared<EmulateOptions>();
  CLI::App* command = app.add_subcommand(
      "emulate", "Run a CUDA program on the emulator and show what its kernels counted");
  document(command,
           {.about = {"The program must be linked with the shared CUDA runtime (nvcc -cudart "
                      "shared) and hold PTX. The counts go to stderr."},
            .exit_codes = {{"2", "the program could not be run, or no kernel ran"},
                           {"other", "what the program itself ended with"}},
            .examples = {"warpgauge emulate -- ./program --size 1024",
                         "warpgauge emulate --arch sm_75 --json counts.jsonl -- ./program"}});
  command->add_option("--arch", options->arch, "What the GPU is to be")
      ->capture_default_str()
      ->type_name("ARCH");
  command->add_option("--json", options->json, "Also write the counts to this file, a line each")
      ->type_name("FILE");
  add_program(command, options->command);
  command->callback(
      [options, &action] { action = [options] { return emulate_program(*options); }; });
}

inline void add_attach(CLI::App& app, std::function<int()>& action) {
  auto options = std::make_shared<AttachOptions>();
  CLI::App* command = app.add_subcommand(
      "attach",
      "Count what the kernels of any CUDA program do on a GPU, without building it again");
  document(
      command,
      {.about = {"The program's own output is left as it is: the counts go to stderr and "
                 "facts.jsonl.",
                 "Sections of the budget file are globs of kernel names, "
                 "[\"*reduce_kernel*\"]; a kernel that none fits is to have no bank conflicts "
                 "and no local traffic."},
       .exit_codes = {{"0", "within budget"},
                      {"1", "over budget"},
                      {"2", "a fault, or the program itself failed"},
                      {"3", "something was not counted"}},
       .examples = {"warpgauge attach -- ./program --size 1024",
                    "warpgauge attach --kernels '^my::' --budgets b.toml -- python3 train.py",
                    "warpgauge attach --sample 10 --out results -- ./long_program",
                    "warpgauge attach --skip 'nccl*' -- torchrun --nproc-per-node 8 train.py"}});
  command
      ->add_option("--budgets", options->budgets,
                   "What kernels may cost; sections are globs of their names")
      ->type_name("FILE");
  command
      ->add_option("--kernels", options->kernels,
                   "Tell only of kernels whose name, with template arguments, this regular "
                   "expression finds")
      ->type_name("REGEX");
  command->add_option("--out", options->out, "Folder for facts.jsonl and summary.md")
      ->capture_default_str()
      ->type_name("DIR");
  command
      ->add_option(
          "--sample", options->sample,
          "Count only so many launches of each kernel, so that a long program is not slowed "
          "down all the time")
      ->check(CLI::Range(1u, 1000000000u))
      ->default_str("all")
      ->type_name("N");
  command
      ->add_option("--skip", options->skip,
                   "Count nothing while kernels are launched whose name fits this glob, and leave "
                   "their code as it is (can be given several times)")
      ->allow_extra_args(false)
      ->type_name("GLOB");
  command->add_flag("--strict", options->strict,
                    "Values better than their budget fail, so that budgets stay tight");
  add_program(command, options->command);
  command->callback([options, &action] {
    action = [options] { return static_cast<int>(attach_to_program(*options)); };
  });
}

}  // namespace warpgauge
