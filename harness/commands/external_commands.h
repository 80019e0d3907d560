// Commands that another program runs: `warpgauge accept` is warpgauge-accept, beside this program
// or where this build has it.
#pragma once

#include <string>
#include <vector>

namespace warpgauge {

struct ExternalCommand {
  std::string name, summary;
};

/// In the order in which --help lists them.
std::vector<ExternalCommand> external_commands();

/// Replaces this process by the program of the command argv[1], with the arguments behind it.
/// `argv` as main() got it. Throws std::runtime_error if the program is missing, std::system_error
/// if it cannot be started.
[[noreturn]] void run_external_command(char** argv);

}  // namespace warpgauge
