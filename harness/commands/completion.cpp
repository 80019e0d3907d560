// warpgauge completion: prints the script that completes this command line in a shell.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/commands/command_line.h"
#include "harness/commands/completion_script.h"
#include "harness/commands/external_commands.h"
#include "harness/process/program_name.h"

namespace warpgauge::commands {
namespace {

constexpr std::string_view kCompletionFooter =
    R"sh(The shell asks the programs for cases, architectures, and the options of programs beside
this one.

Exit codes:
  0  printed
  2  a fault

Examples:
  eval "$(warpgauge completion bash)"      # in ~/.bashrc
  eval "$(warpgauge completion zsh)"       # in ~/.zshrc
  warpgauge completion fish | source  # in ~/.config/fish/config.fish
)sh";

/// The kind of value follows from the name of its type: {a,b} are choices, GLOB and ID cases, ARCH
/// architectures, FILE and DIR files, and so are arguments without an option.
CompletedOption completed_option(const CLI::Option& option) {
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
std::vector<CompletedCommand> completed_commands(const CLI::App& app) {
  std::vector<CompletedCommand> commands;
  for (const CLI::App* command : app.get_subcommands({})) {
    CompletedCommand& completed = commands.emplace_back();
    completed.name = command->get_name();
    completed.help = command->get_description();
    for (const CLI::Option* option : command->get_options()) {
      if (option == command->get_help_ptr()) continue;
      completed.options.push_back(completed_option(*option));
    }
  }
  for (const ExternalCommand& command : external_commands()) {
    commands.push_back({.name = command.name, .help = command.summary, .is_external = true});
  }
  return commands;
}

}  // namespace

void add_completion(CommandLine& line) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = line.add(
      "completion", "Print the script that completes these commands in a shell", kCompletionFooter);
  command->add_option("shell", *shell, "The shell")
      ->required()
      ->type_name(fmt::format("{{{}}}", fmt::join(completed_shells(), ",")));
  line.on_run(command, [=, &line] {
    fmt::print("{}",
               completion_script(*shell, process::program_name(), completed_commands(line.app())));
    return 0;
  });
}

}  // namespace warpgauge::commands
