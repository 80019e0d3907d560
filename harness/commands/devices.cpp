// warpgauge devices: the GPUs of this machine, and tables about GPUs.

#include <fmt/format.h>

#include "harness/cases/built_architectures.h"
#include "harness/commands/command_line.h"
#include "harness/commands/generations.h"
#include "harness/device_table.h"
#include "harness/runtime.h"

namespace warpgauge::commands {
namespace {

constexpr std::string_view kDevicesFooter =
    R"(Exit codes:
  0  shown, even if there is no GPU
  2  a fault

Examples:
  warpgauge devices
  warpgauge devices --models
  warpgauge devices --limits
  warpgauge devices --history
  warpgauge devices --shared-config --device=emulated
)";

using Describe = std::string();

}  // namespace

void add_devices(CommandLine& line) {
  CLI::App* command = line.add("devices", "Show the GPUs of this machine", kDevicesFooter);
  auto describe = std::make_shared<Describe*>(describe_devices);
  const auto add = [&](const char* name, Describe* text, const char* help) {
    return command->add_flag_callback(name, [describe, text] { *describe = text; }, help);
  };
  CLI::Option* models =
      add("--models", describe_models,
          "Print the first GPU of each model, for scripts: its UUID, as CUDA_VISIBLE_DEVICES takes "
          "it, a tab and its name");
  CLI::Option* limits =
      add("--limits", describe_generations, "Show what each architecture brought and allows");
  CLI::Option* history = add("--history", describe_history,
                             "Show all architectures since 1.0: what each brought, what limits "
                             "changed, and which CUDA toolkits compile for it");
  CLI::Option* shared =
      add("--shared-config", describe_shared_configuration,
          "Show the effect of the calls that configured shared memory on old GPUs");
  models->excludes(limits)->excludes(history)->excludes(shared);
  limits->excludes(history)->excludes(shared);
  history->excludes(shared);
  auto device = add_device(command);
  line.on_run(command, [=, &line] {
    if (*device != process::DeviceChoice::automatic) line.continue_on(*device);
    if (is_emulated()) emulate_arch(default_emulated_arch());
    fmt::print("{}", (*describe)());
    return 0;
  });
}

}  // namespace warpgauge::commands
