// warpgauge toolchain: what another compiler makes of the same sources, without a GPU.

#include "harness/toolchain/toolchain.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/cases/filter_options.h"
#include "harness/commands/command_line.h"
#include "harness/files/colour.h"
#include "harness/process/timeout_option.h"

namespace warpgauge::commands {
namespace {

constexpr std::string_view kToolchainFooter =
    R"(Compiles PTX (.ptx) by the ptxas of each toolkit, or CUDA (.cu) by its nvcc, and shows what
changed from the first toolkit to each other one, as `warpgauge diff` does of compiled files.
DIR is the folder of a CUDA toolkit (DIR/bin/ptxas), or one into which pip has installed
NVIDIA's compiler (DIR/nvidia/cu13/bin/ptxas). Fetches nothing, and needs no GPU.

With --emulate, nvcc builds a program of the CUDA sources, which have a main(), and the emulator
runs it: run-time counts are compared, too. Behind a second -- stand the program's arguments.

In --out, each toolkit has a folder NUMBER-VERSION: the cubins or the program of each architecture
with what the compiler and the program said, facts.jsonl, and, but for the first, diff.json.

Exit codes:
  0  no other toolkit makes a kernel worse than the first does
  1  one does
  2  a fault: a toolkit is missing, fails on a source or takes too long, or a program does
  3  not compared: a value that one toolkit has and the other lacks

Examples:
  warpgauge toolchain --with /usr/local/cuda-12.9 --with /usr/local/cuda k.ptx
  warpgauge toolchain --with a --with b --arch sm_90 k.cu -- -O3 -Iinclude
  warpgauge toolchain --with a --with b --with c --out kept kernels/*.ptx
  warpgauge toolchain --with a --with b --emulate --arch sm_90 k.cu -- -O3 -- 64
)";

/// Takes the arguments of the programs, which stand behind a second --.
void take_program_arguments(toolchain::ToolchainOptions& options) {
  std::vector<std::string>& words = options.arguments;
  const auto mark = std::ranges::find(words, "--");
  if (mark == words.end()) return;
  if (!options.emulate) {
    throw std::invalid_argument("behind a second -- stand a program's arguments: add --emulate");
  }
  options.program_arguments.assign(mark + 1, words.end());
  words.erase(mark, words.end());
}

}  // namespace

void add_toolchain(CommandLine& line) {
  auto options = std::make_shared<toolchain::ToolchainOptions>();
  CLI::App* command = line.add(
      "toolchain", "Compare what several compilers make of the same sources", kToolchainFooter);
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
  command->add_flag("--emulate", options->emulate,
                    "Build programs of the sources, and compare what their kernels do, too");
  process::add_timeout_option(*command, options->time_limit,
                              "Time limit for each compilation, and each program of --emulate");
  command->add_option("--out", options->out, "Keep cubins and facts in this folder")
      ->type_name("DIR");
  add_filter_options(*command, options->diff.selection);
  command->add_flag("--all", options->diff.display.everything,
                    "Show every value and line, not one display");
  command->add_option("--json", options->diff.json, "Write the comparison to this file, too")
      ->type_name("FILE");
  command->add_option("sources", options->sources, "PTX (.ptx) and CUDA (.cu)")
      ->required()
      ->type_name("SOURCE");
  // CLI11 gives them to the sources.
  command
      ->add_option("arguments", options->arguments,
                   "Arguments of the compilers; behind a second -- those of the programs")
      ->type_name("-- ARGUMENT");
  line.on_run(command, [options, &line] {
    options->arguments = line.words_behind_mark();
    if (options->arguments.size() >= options->sources.size()) {
      throw std::invalid_argument("name the sources in front of --");
    }
    options->sources.resize(options->sources.size() - options->arguments.size());
    take_program_arguments(*options);
    options->diff.display.colours = files::may_be_coloured(STDOUT_FILENO);
    return static_cast<int>(toolchain::toolchain(*options));
  });
}

}  // namespace warpgauge::commands
