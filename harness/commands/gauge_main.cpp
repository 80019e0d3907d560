// warpgauge: the command line tool. Each command is in the file of its name.

#include "harness/commands/command_line.h"
#include "harness/process/program.h"

namespace warpgauge::commands {

AddCommand add_gate, add_list, add_metrics, add_explain, add_diff, add_outcome, add_emulate,
    add_attach, add_inspect, add_toolchain, add_cc, add_devices, add_occupancy, add_doctor,
    add_config, add_completion;

/// The commands, in the order in which --help lists them.
constexpr AddCommand* kCommands[] = {
    add_gate,      add_list,   add_metrics, add_explain,    add_diff, add_outcome,
    add_emulate,   add_attach, add_inspect, add_toolchain,  add_cc,   add_devices,
    add_occupancy, add_doctor, add_config,  add_completion,
};

int run(int argc, char** argv) {
  CommandLine line(argc, argv);
  for (AddCommand* add : kCommands) add(line);
  return line.run();
}

}  // namespace warpgauge::commands

WARPGAUGE_MAIN(warpgauge::commands::run)
