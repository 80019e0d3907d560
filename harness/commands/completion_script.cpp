#include "harness/commands/completion_script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "harness/commands/completion_shells.h"
#include "metrics/nearest.h"

namespace warpgauge::commands {

std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string replaced(std::string text, std::string_view word, std::string_view by) {
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + by.size())) {
    text.replace(at, word.size(), by);
  }
  return text;
}

std::string function_name(const std::string& program) {
  std::string name = "_" + program;
  std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

const std::vector<std::string>& completed_shells() {
  static const std::vector<std::string> shells = {"bash", "zsh", "fish"};
  return shells;
}

std::string completion_script(std::string_view shell, const std::string& program,
                              const std::vector<CompletedCommand>& commands) {
  if (shell == "bash") return bash_script(program, shell, commands);
  if (shell == "fish") return fish_script(program, commands);
  if (shell == "zsh") {
    return fmt::format(
        "#compdef {0} {0}-emulated {0}-check {0}-check-emulated {0}-bench {0}-bench-emulated\n"
        "if ! whence compdef >/dev/null; then autoload -U +X compinit && compinit; fi\n"
        "autoload -U +X bashcompinit && bashcompinit\n{1}",
        program, bash_script(program, shell, commands));
  }
  throw std::invalid_argument(fmt::format("no completion for '{}'{}; there is one for {}", shell,
                                          metrics::did_you_mean(shell, completed_shells()),
                                          fmt::join(completed_shells(), ", ")));
}

}  // namespace warpgauge::commands
