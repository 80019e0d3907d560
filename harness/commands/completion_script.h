// The scripts that complete the command line in shells.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpgauge::commands {

/// The kind of an argument, or of an option's value.
enum class Completed { nothing, choices, ids, archs, files };

struct CompletedOption {
  std::string name;  ///< "--filter"; empty: an argument without a name
  std::string help;
  bool takes_value = false;
  Completed value = Completed::nothing;
  std::vector<std::string> choices;
};

struct CompletedCommand {
  std::string name, help;
  bool is_external = false;  ///< run by another program, which completes it
  std::vector<CompletedOption> options;
};

/// The shells there are scripts for: "bash", "zsh", "fish".
const std::vector<std::string>& completed_shells();

/// A script that completes the commands of `program` ("warpgauge"), which it asks for cases and
/// architectures when it runs. Throws std::invalid_argument for another shell.
std::string completion_script(std::string_view shell, const std::string& program,
                              const std::vector<CompletedCommand>& commands);

}  // namespace warpgauge::commands
