// Commands that are programs of their own: `warpgauge accept` is warpgauge-accept, beside it or
// where this build has it.
#pragma once

#include <span>
#include <string_view>

namespace warpgauge {

struct ExternalCommand {
  std::string_view command, help;
};

/// The commands that other programs do, in the order in which --help lists them.
std::span<const ExternalCommand> external_commands();

/// Replaces this process by the program that does the command argv[1], with the arguments behind
/// it; returns if it is not an external command. `argv` as main() got it. Throws std::runtime_error
/// if the program is not there, and std::system_error if it cannot be started.
void continue_in_external_command(char** argv);

}  // namespace warpgauge
