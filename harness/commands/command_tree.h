// The commands of a program, read from what parses its command line. For programs: needs CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "harness/commands/completion.h"
#include "harness/commands/external_commands.h"

namespace warpgauge {

/// What stands behind an option follows from the name of its type: {a,b} are choices, GLOB and ID
/// cases, ARCH architectures, FILE and DIR files, and so is what has no name.
inline CompletedOption completed_option(const CLI::Option& option) {
  const std::vector<std::string>& names = option.get_lnames();
  CompletedOption completed{.name = names.empty() ? "" : "--" + names.front(),
                            .help = option.get_description(),
                            .takes_value = option.get_items_expected_max() > 0};
  if (!completed.takes_value) return completed;
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{'), end = type.find('}');
  if (begin != std::string::npos && end != std::string::npos) {
    completed.value = Completed::choices;
    completed.choices = CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
  } else if (type.starts_with("GLOB") || type.starts_with("ID")) {
    completed.value = Completed::ids;
  } else if (type.starts_with("ARCH")) {
    completed.value = Completed::archs;
  } else if (type.starts_with("FILE") || type.starts_with("DIR") || completed.name.empty()) {
    completed.value = Completed::files;
  }
  return completed;
}

/// All commands, in the order in which --help lists them.
inline std::vector<CompletedCommand> command_tree(const CLI::App& app) {
  std::vector<CompletedCommand> commands;
  for (const CLI::App* command : app.get_subcommands({})) {
    const auto is_external = [&](const ExternalCommand& one) {
      return one.command == command->get_name();
    };
    CompletedCommand completed{command->get_name(), command->get_description(),
                               std::ranges::any_of(external_commands(), is_external)};
    const auto add = [&](const CLI::App& part) {
      for (const CLI::Option* option : part.get_options()) {
        if (option != part.get_help_ptr()) completed.options.push_back(completed_option(*option));
      }
    };
    add(*command);
    for (const CLI::App* group : command->get_subcommands({})) add(*group);  // groups of options
    commands.push_back(std::move(completed));
  }
  return commands;
}

}  // namespace warpgauge
