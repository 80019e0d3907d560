// The completion scripts of the shells, and the text functions that they share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/commands/completion_script.h"

namespace warpgauge::commands {

/// Also for zsh, which can complete as bash does.
std::string bash_script(const std::string& program, std::string_view shell,
                        const std::vector<CompletedCommand>& commands);
std::string fish_script(const std::string& program, const std::vector<CompletedCommand>& commands);

/// In the single quotes of bash and zsh.
std::string in_quotes(std::string_view text);
std::string replaced(std::string text, std::string_view word, std::string_view by);
/// The prefix of the functions of a script.
std::string function_name(const std::string& program);

}  // namespace warpgauge::commands
