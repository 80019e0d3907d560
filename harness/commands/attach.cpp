// warpgauge attach: counts what the kernels of any CUDA program do on a GPU.

#include "harness/attach/attach.h"

#include "harness/commands/command_line.h"

namespace warpgauge::commands {
namespace {

constexpr std::string_view kFooter =
    R"(The program is not built again, and its own output stays as it is: the counts go to
stderr and facts.jsonl. Sections of the budget file are globs of kernel names,
["*reduce_kernel*"]; a kernel that none matches may have no bank conflicts and no local
traffic.

Exit codes:
  0  within budget
  1  over budget
  2  a fault, or the program itself failed
  3  something was not counted

Examples:
  warpgauge attach -- ./program --size 1024
  warpgauge attach --kernels '^my::' --budgets b.toml -- python3 train.py
  warpgauge attach --sample 10 --out results -- ./long_program
  warpgauge attach --skip 'nccl*' -- torchrun --nproc-per-node 8 train.py
)";

}  // namespace

void add_attach(CommandLine& line) {
  auto options = std::make_shared<attach::AttachOptions>();
  CLI::App* command =
      line.add("attach", "Count the work of any CUDA program's kernels on a GPU", kFooter);
  command
      ->add_option("--budgets", options->budgets,
                   "Budgets; their sections are globs of kernel names")
      ->type_name("FILE");
  command
      ->add_option("--project", options->project,
                   "Budgets of a whole project, below those (default: none)")
      ->type_name("FILE");
  command
      ->add_option("--kernels", options->kernels,
                   "Report only kernels whose name, with template arguments, matches this regular "
                   "expression")
      ->type_name("REGEX");
  command->add_option("--out", options->out, "Folder for facts.jsonl and summary.md")
      ->capture_default_str()
      ->type_name("DIR");
  command
      ->add_option("--sample", options->sample,
                   "Count at least N launches of each kernel, then let the program run at full "
                   "speed")
      ->check(CLI::Range(1u, 1000000000u))
      ->default_str("all")
      ->type_name("N");
  command
      ->add_option("--skip", options->skip,
                   "Do not count or touch kernels whose name matches this glob (repeatable)")
      ->allow_extra_args(false)
      ->type_name("GLOB");
  command->add_flag("--strict", options->strict,
                    "Values better than their budget fail, so that budgets stay tight");
  add_program(command, options->command);
  line.on_run(command, [options] { return static_cast<int>(attach::attach_to_program(*options)); });
}

}  // namespace warpgauge::commands
