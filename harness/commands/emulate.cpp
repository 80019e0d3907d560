// warpgauge emulate: runs a CUDA program on the emulator and shows the counts of its kernels.

#include "harness/emulate/emulate.h"

#include "harness/commands/command_line.h"

namespace warpgauge::commands {
namespace {

constexpr std::string_view kFooter =
    R"(The program must be linked with the shared CUDA runtime (nvcc -cudart shared) and hold
PTX. Counts and faults go to stderr.

Exit codes:
  2      a kernel faulted, a launch failed, nothing ran, or counts of a process are missing
  other  the program's own

Examples:
  warpgauge emulate -- ./program --size 1024
  warpgauge emulate --arch sm_75 --json counts.jsonl -- ./program
)";

}  // namespace

void add_emulate(CommandLine& line) {
  auto options = std::make_shared<emulate::EmulateOptions>();
  CLI::App* command = line.add(
      "emulate", "Run a CUDA program on the emulator and show the counts of its kernels", kFooter);
  command->add_option("--arch", options->arch, "The architecture to emulate")
      ->capture_default_str()
      ->type_name("ARCH");
  command
      ->add_option("--json", options->json,
                   "Also write counts and faults to this file, a line each")
      ->type_name("FILE");
  add_program(command, options->command);
  line.on_run(command, [options] { return emulate::emulate_program(*options); });
}

}  // namespace warpgauge::commands
