// warpgauge toolchain: what another compiler makes of the same sources, without a GPU.

#include "harness/toolchain/toolchain.h"

#include <unistd.h>

#include <memory>
#include <stdexcept>

#include "harness/commands/command_line.h"
#include "harness/files/colour.h"
#include "harness/process/filter_options.h"

namespace warpgauge::commands {
namespace {

constexpr std::string_view kFooter =
    R"(Compiles PTX (.ptx) by the ptxas of each toolkit, or CUDA (.cu) by its nvcc, and shows what
changed from the first toolkit to each other one, as `warpgauge diff` does of compiled files.
DIR is the folder of a CUDA toolkit (DIR/bin/ptxas), or one into which pip has installed
NVIDIA's compiler (DIR/nvidia/cu13/bin/ptxas). Fetches nothing, and needs no GPU.

In --out, each toolkit has a folder NUMBER-VERSION: the cubins of each architecture with what
the compiler said, facts.jsonl, and, but for the first, diff.json.

Exit codes:
  0  no other toolkit makes a kernel worse than the first does
  1  one does
  2  a fault: a toolkit that is missing, or does not compile a source
  3  not compared: a value that one toolkit has and the other lacks

Examples:
  warpgauge toolchain --with /usr/local/cuda-12.9 --with /usr/local/cuda k.ptx
  warpgauge toolchain --with a --with b --arch sm_90 k.cu -- -O3 -Iinclude
  warpgauge toolchain --with a --with b --with c --out kept kernels/*.ptx
)";

}  // namespace

void add_toolchain(CommandLine& line) {
  auto options = std::make_shared<toolchain::ToolchainOptions>();
  CLI::App* command =
      line.add("toolchain", "Compare what several compilers make of the same sources", kFooter);
  command
      ->add_option("--with", options->toolkits,
                   "A toolkit; repeat it: the first is A, and each other one B")
      ->required()
      ->allow_extra_args(false)
      ->type_name("DIR");
  command
      ->add_option("--arch", options->archs,
                   "Compile for these architectures (default for PTX: its .target)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("ARCH,...");
  command->add_option("--out", options->out, "Keep cubins and facts in this folder")
      ->type_name("DIR");
  process::add_filter_options(*command, options->diff.selection);
  command->add_flag("--all", options->diff.screen.everything,
                    "Show every value and line, not one screen");
  command->add_option("--json", options->diff.json, "Write the comparison to this file, too")
      ->type_name("FILE");
  command->add_option("sources", options->sources, "PTX (.ptx) and CUDA (.cu)")
      ->required()
      ->type_name("SOURCE");
  // CLI11 gives them to the sources.
  command->add_option("arguments", options->arguments, "Arguments of the compilers")
      ->type_name("-- ARGUMENT");
  line.on_run(command, [options, &line] {
    options->arguments = line.words_behind_mark();
    if (options->arguments.size() >= options->sources.size()) {
      throw std::invalid_argument("name the sources in front of --");
    }
    options->sources.resize(options->sources.size() - options->arguments.size());
    options->diff.screen.colours = files::may_be_coloured(STDOUT_FILENO);
    return static_cast<int>(toolchain::toolchain(*options));
  });
}

}  // namespace warpgauge::commands
