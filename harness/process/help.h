// --help and error messages of command lines, the same in every program. Needs CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace warpgauge::process {

/// Sets -h,--help, and `footer` as the text below the options: exit codes and examples. Texts call
/// the program `written`; the name it was started as replaces that where a command or the rest of a
/// name ("-bench") follows.
void set_help(CLI::App& app, std::string_view footer, std::string_view written = "warpgauge");

/// Parses the command line. Returns the exit code if the program ends here: after --help, --version
/// and --complete, and after an error, whose message suggests the nearest name.
std::optional<int> parse(CLI::App& app, int argc, char** argv);

}  // namespace warpgauge::process
