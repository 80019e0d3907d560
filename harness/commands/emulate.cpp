// warpgauge emulate: counts what the kernels of any CUDA program do, without a GPU.

#include "harness/emulate/emulate.h"

#include "harness/commands/program_options.h"
#include "harness/runtime.h"

namespace warpgauge::commands {
namespace {

constexpr std::string_view kEmulateFooter =
    R"(The program must hold PTX, and have the CUDA runtime as nvcc links it: static, and not
stripped, or shared; or load its kernels by the driver, as Triton does. Counts belong to
source lines if it has line tables (`warpgauge cc`).
Its own output stays as it is: the counts go to stderr and facts.jsonl.
Sections of the budget file are globs of kernel names, ["*reduce_kernel*"]; a kernel
that none matches may have no bank conflicts and no local traffic.

Exit codes:
  0  within budget
  1  over budget
  2  a fault: of a kernel, a launch, the program, or a call that is not emulated
  3  something was not counted

Examples:
  warpgauge emulate -- ./program --size 1024
  warpgauge emulate --arch sm_75 --budgets b.toml -- ./program
  warpgauge emulate --arch sm_90 --memory 80GiB -- python3 kernels.py
  warpgauge emulate --check races,uninitialised -- ./program
  warpgauge emulate --limit-launches 10 --out results -- ./long_program
)";

}  // namespace

void add_emulate(CommandLine& line) {
  auto options = std::make_shared<programs::ProgramOptions>();
  auto device = std::make_shared<emulate::EmulatedDevice>();
  CLI::App* command = line.add(
      "emulate", "Count the work of any CUDA program's kernels without a GPU", kEmulateFooter);
  command->add_option("--arch", device->arch, "The architecture to emulate")
      ->capture_default_str()
      ->type_name("ARCH");
  command
      ->add_option("--memory", device->memory_bytes,
                   "Memory that the GPU has: 80GiB. Without it, as much as this machine")
      ->transform(CLI::AsSizeValue(false));
  command
      ->add_option_function<std::string>(
          "--driver",
          [device](const std::string& version) {
            device->driver = emulate::driver_number(version);
          },
          "CUDA version of the driver: 13.5. Without it, that of this build")
      ->type_name("VERSION");
  auto coverage = std::make_shared<std::string>();
  command
      ->add_option("--coverage", *coverage,
                   "Write which lines and branches of kernels ran to this file, in lcov's format")
      ->type_name("FILE");
  auto checks = std::make_shared<std::string>(kUsualChecks);
  auto orders = std::make_shared<OtherOrders>();
  add_checks(command, *checks, *orders);
  add_launch_limit(command, *options,
                   "CPU time that a launch may take, or time for which its threads may wait while "
                   "nothing changes; one that takes more is a fault");
  add_program_options(command, *options);
  line.on_run(command, [options, device, coverage, checks, orders] {
    return static_cast<int>(
        emulate::emulate_program(*options, *device, *coverage, *checks, *orders));
  });
}

}  // namespace warpgauge::commands
