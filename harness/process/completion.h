// The words that complete a command line: `PROGRAM --complete LINE` prints them for a shell, one a
// line, and nothing where files are meant. Needs CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace warpgauge::process {

/// A line up to the cursor.
struct UnfinishedLine {
  std::vector<std::string> words;  ///< without the program and the word at the cursor
  /// The option whose value is at the cursor; "-" if an option is; empty: an argument.
  std::string option;
  std::string kept, begun;  ///< the word at the cursor: "--arch=sm_75," and "sm_9"
};

/// The line that the program is asked to complete; nullopt if it is to run.
std::optional<UnfinishedLine> asked_to_complete(int argc, char** argv);

/// All words that can stand at the cursor: options, commands, and what the name of a type says,
/// which is {a,b}, GLOB or ID ("GLOB" stands for all cases) or ARCH ("ARCH" for all architectures).
std::vector<std::string> possible_words(const CLI::App& command, const std::string& option);

/// Prints those of the possible words that continue the word at the cursor, in full.
void print_candidates(const UnfinishedLine& line, std::vector<std::string> possible);

}  // namespace warpgauge::process
