// What the commands of the command line tool share. For its main(): needs CLI11.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/commands/command_tree.h"
#include "harness/commands/completion.h"
#include "harness/commands/help_text.h"
#include "harness/process/program.h"
#include "harness/process/program_name.h"
#include "metrics/nearest.h"

namespace warpgauge {

/// For options whose value must say something.
inline const CLI::Validator kNotEmpty(
    [](const std::string& text) { return text.empty() ? "is empty" : std::string(); }, "", "");

/// For files that are drawn.
inline const CLI::Validator kSvg(
    [](const std::string& text) {
      return text.ends_with(".svg") ? std::string()
                                    : "'" + text + "' does not end in .svg: pictures are SVG";
    },
    "", "");

/// Adds --device to a command that runs kernels.
inline std::shared_ptr<DeviceChoice> add_device(CLI::App* command) {
  auto choice = std::make_shared<DeviceChoice>(DeviceChoice::automatic);
  const auto choose = [choice](const std::string& word) {
    const std::vector<std::string> words = {"auto", "gpu", "emulated"};  // as DeviceChoice
    const auto found = std::ranges::find(words, word);
    if (found == words.end()) {
      throw CLI::ValidationError("--device",
                                 fmt::format("'{}' is none of {}{}", word, fmt::join(words, ", "),
                                             metrics::did_you_mean(word, words)));
    }
    *choice = static_cast<DeviceChoice>(found - words.begin());
  };
  command
      ->add_option_function<std::string>(
          "--device", choose, "Where kernels run; auto: on the GPU, or the emulator without one")
      ->default_str("auto")
      ->type_name("{auto,gpu,emulated}");
  return choice;
}

/// Adds the command that prints what completes all commands; add it last.
inline void add_completion(CLI::App& app, std::function<int()>& action) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("completion", "Print what completes these commands in a shell");
  document(command,
           {.about = {"The shell asks the programs for what it cannot know before: cases, "
                      "architectures, and the options of programs beside this one."},
            .exit_codes = {{"0", "printed"}, {"2", "a fault"}},
            .examples = {"eval \"$(warpgauge completion bash)\"      # in ~/.bashrc",
                         "eval \"$(warpgauge completion zsh)\"       # in ~/.zshrc",
                         "warpgauge completion fish | source  # in ~/.config/fish/config.fish"}});
  command->add_option("shell", *shell, "The shell that is to complete")
      ->required()
      ->type_name(fmt::format("{{{}}}", fmt::join(completed_shells(), ",")));
  command->callback([=, &app, &action] {
    action = [=, &app] {
      fmt::print("{}", completion_script(*shell, program_name(), command_tree(app)));
      return 0;
    };
  });
}

/// Throws std::invalid_argument for a first word that is no command, which CLI11 would only call
/// unexpected.
inline void check_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || *argv[1] == '-') return;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (std::ranges::find(names, argv[1]) != names.end()) return;
  throw std::invalid_argument(fmt::format("'{}' is no command{}; there are {}", argv[1],
                                          metrics::did_you_mean(argv[1], names),
                                          fmt::join(names, ", ")));
}

}  // namespace warpgauge
