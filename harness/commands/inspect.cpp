// warpgauge inspect: judges the kernels of what is compiled already, without a GPU.

#include "harness/inspect/inspect.h"

#include "harness/commands/command_line.h"
#include "harness/commands/program_options.h"
#include "harness/inspect/refused_code.h"
#include "harness/process/timeout_option.h"

namespace warpgauge::commands {
namespace {

constexpr std::string_view kInspectFooter =
    R"(A THING is a cubin, a fat binary, an object, a shared library, a program, an archive,
a wheel or a zip of them, or a folder, of which the files with machine code are read;
PTX (.ptx), which the toolkit's ptxas compiles; or the log of a build with -Xptxas -v.
Sections of the budget file are globs of kernel names, ["*reduce_kernel*"]; a kernel
that none matches may not spill registers.
Needs no GPU and no rebuild.
With --emulates it judges nothing, and lists what the emulator refuses of the PTX.

Exit codes:
  0  within budget; with --emulates: nothing is refused
  1  over budget, or refused
  2  a fault: a file that is damaged, or should have machine code and has none
  3  something could not be measured

Examples:
  warpgauge inspect build/libkernels.so
  warpgauge inspect --arch 'sm_9*' --kernels '^my::' --budgets b.toml build
  warpgauge inspect --arch sm_80,sm_90a --block 256 --out results kernel.cubin
  warpgauge inspect build.log
  warpgauge inspect --emulates kernel.ptx
)";

}  // namespace

void add_inspect(CommandLine& line) {
  auto options = std::make_shared<inspect::InspectOptions>();
  CLI::App* command =
      line.add("inspect", "Judge the kernels of compiled files, without a GPU", kInspectFooter);
  command
      ->add_option("--arch", options->archs,
                   "Only code for these architectures, by names or globs (default: all)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("ARCH,...");
  command
      ->add_option("--block", options->threads,
                   "Threads of a block, for occupancy (default: the launch bounds of each kernel)")
      ->check(CLI::Range(1u, 1024u))
      ->type_name("N");
  auto emulates = std::make_shared<bool>(false);
  command->add_flag("--emulates", *emulates,
                    "List the instructions that are not emulated, without running anything");
  add_judge_options(command, *options);
  process::add_timeout_option(*command, options->time_limit, "Time limit for each run of ptxas");
  command->add_option("things", options->paths, "Compiled files, and folders of them")
      ->required()
      ->type_name("THING");
  line.on_run(command, [options, emulates] {
    return static_cast<int>(*emulates ? inspect::list_refused(*options)
                                      : inspect::inspect(*options));
  });
}

}  // namespace warpgauge::commands
