// warpgauge doctor: checks what measuring needs on this machine.

#include "harness/doctor/doctor.h"

#include <stdexcept>

#include "harness/commands/command_line.h"
#include "harness/process/timeout_option.h"

namespace warpgauge::commands {
namespace {

constexpr std::string_view kDoctorFooter =
    R"(Counts a kernel whose bank conflicts are known, the same way as the gate, and prints one
fix per problem.

Exit codes:
  0  the gate can run here
  2  a fault
  3  a requirement is not met

Examples:
  warpgauge doctor
  warpgauge doctor --require=cupti --json
)";

}  // namespace

void add_doctor(CommandLine& line) {
  auto options = std::make_shared<doctor::DoctorOptions>();
  CLI::App* command =
      line.add("doctor", "Check that this machine can measure, and print fixes", kDoctorFooter);
  auto device = add_device(command);
  command
      ->add_option_function<std::string>(
          "--require", [options](const std::string&) { options->require_cupti = true; },
          "As for the gate: cupti needs a GPU and all of its counters")
      ->check(CLI::IsMember({"cupti"}))
      ->type_name("{cupti}");
  command->add_option("--out", options->out, "The gate's folder of results")
      ->capture_default_str()
      ->type_name("DIR");
  process::add_timeout_option(*command, options->time_limit,
                              "Time limit for each check that may hang");
  command->add_flag("--json", options->json, "Print one JSON object");
  line.on_run(command, [=, &line] {
    options->device = *device;
    if (options->require_cupti && *device == process::DeviceChoice::emulated) {
      throw std::invalid_argument("--require=cupti and --device=emulated exclude each other");
    }
    // The doctor itself finds out whether there is a GPU: a broken one must not end it.
    const process::DeviceChoice choice =
        options->require_cupti ? process::DeviceChoice::gpu : *device;
    if (choice != process::DeviceChoice::automatic) line.continue_on(choice);
    return static_cast<int>(doctor::run_doctor(*options));
  });
}

}  // namespace warpgauge::commands
