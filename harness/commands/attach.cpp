// warpgauge attach: counts what the kernels of any CUDA program do on a GPU.

#include "harness/attach/attach.h"

#include <memory>
#include <string_view>

#include "harness/commands/program_options.h"

namespace warpgauge::commands {
namespace {

constexpr std::string_view kAttachFooter =
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
  auto options = std::make_shared<programs::ProgramOptions>();
  CLI::App* command =
      line.add("attach", "Count the work of any CUDA program's kernels on a GPU", kAttachFooter);
  add_launch_limit(command, *options,
                   "Time that the program may wait for the GPU; more is a fault, and ends it");
  add_program_options(command, *options);
  line.on_run(command, [options] { return static_cast<int>(attach::attach_to_program(*options)); });
}

}  // namespace warpgauge::commands
