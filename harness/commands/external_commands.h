// Commands that another program runs: `warpgauge accept` is `warpgauge-python accept`.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/process/child_program.h"

namespace warpgauge::commands {

struct ExternalCommand {
  std::string name, summary;
};

/// warpgauge-python, beside this program or where this build has it; it may be missing.
std::filesystem::path external_program();

/// The commands of external_program(), which it lists itself; empty where it cannot be run.
std::vector<ExternalCommand> external_commands();

/// Replaces this process by external_program(), with the same arguments. `argv` as main() got it.
/// Throws std::system_error if it cannot be started.
[[noreturn]] void run_external_command(char** argv);
/// The same with these words for arguments, and this text as its standard input.
[[noreturn]] void run_external_command(std::vector<std::string> words, std::string_view input = "");

/// Runs external_program() with these words to its end. Throws std::runtime_error if it cannot be
/// started.
process::Ending call_external_command(std::vector<std::string> words);

}  // namespace warpgauge::commands
