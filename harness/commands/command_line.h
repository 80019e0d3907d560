// The command line of the tool: its commands, and what several of them share. Needs CLI11.
//
// A command is one file here, which defines add_NAME(), and a name in the table of gauge_main.cpp.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/process/completion.h"
#include "harness/process/program.h"
#include "harness/runtime.h"

namespace warpgauge::commands {

class CommandLine {
 public:
  /// `argc` and `argv` as main() got them.
  CommandLine(int argc, char** argv);

  /// Adds a command, to which the caller adds options. `footer`: see set_help().
  CLI::App* add(const std::string& name, const std::string& summary, std::string_view footer);
  /// Sets the function that runs the command and returns the exit code.
  void on_run(CLI::App* command, std::function<int()> run);

  /// Continues in the program for this device, with the same arguments; see continue_on().
  void continue_on(process::DeviceChoice choice) const {
    warpgauge::process::continue_on(choice, argv_);
  }
  /// The words behind the first `--`, which CLI11 counts among the arguments without an option.
  std::vector<std::string> words_behind_mark() const;

  /// Runs the command that was asked for, an external one too, and returns its exit code. No
  /// exception leaves it.
  int run();

 private:
  void continue_in_external_command();
  std::vector<std::string> possible_words(const process::UnfinishedLine& line) const;

  int argc_;
  char** argv_;
  CLI::App app_;
  int exit_code_ = 0;
};

/// Adds a command to the line.
using AddCommand = void(CommandLine& line);

/// Adds --device to a command that runs kernels.
std::shared_ptr<process::DeviceChoice> add_device(CLI::App* command);

/// Adds --check, --schedules and --replay to a command that runs kernels on the emulator.
void add_checks(CLI::App* command, std::string& checks, OtherOrders& orders);

/// Adds the program that a command runs, and its arguments.
void add_program(CLI::App* command, std::vector<std::string>& words);

}  // namespace warpgauge::commands
