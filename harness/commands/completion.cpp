// warpgauge completion: prints the few lines with which a shell asks this program for words, see
// process/completion.h.

#include <fmt/format.h>

#include <map>
#include <stdexcept>

#include "harness/commands/command_line.h"
#include "harness/process/program_name.h"
#include "metrics/base/nearest.h"

namespace warpgauge::commands {
namespace {

constexpr std::string_view kCompletionFooter =
    R"sh(The shell asks the program for commands, options and their values, cases and architectures.

Exit codes:
  0  printed
  2  a fault

Examples:
  eval "$(warpgauge completion bash)"      # in ~/.bashrc
  eval "$(warpgauge completion zsh)"       # in ~/.zshrc
  warpgauge completion fish | source  # in ~/.config/fish/config.fish
)sh";

constexpr std::string_view kBash = R"sh(# eval "$(PROGRAM completion bash)"
_PROGRAM_words() {
  local line=${COMP_LINE:0:COMP_POINT} word part
  mapfile -t COMPREPLY < <("$1" --complete "$line" 2>/dev/null)
  # To bash, the word begins behind the last = or :, or at the last @.
  word=${line##*[[:space:]]} part=${word##*[=:]}
  if [[ $part == *@* ]]; then part=@${part##*@}; fi
  COMPREPLY=("${COMPREPLY[@]#"${word%"$part"}"}")
}
complete -o default -F _PROGRAM_words PROGRAM{,-check,-bench}{,-emulated}
)sh";

constexpr std::string_view kZsh =
    R"sh(#compdef PROGRAM PROGRAM-emulated PROGRAM-check PROGRAM-check-emulated PROGRAM-bench PROGRAM-bench-emulated
_PROGRAM() {
  local -a found=(${(f)"$($words[1] --complete "${(j: :)words[1,CURRENT-1]} $PREFIX" 2>/dev/null)"})
  if (($#found)); then compadd -a found; else compset -P '--*='; _files; fi
}
if [[ ${funcstack[1]-} == _PROGRAM ]]; then
  _PROGRAM
else
  whence compdef >/dev/null || { autoload -U +X compinit && compinit }
  compdef _PROGRAM PROGRAM{,-check,-bench}{,-emulated}
fi
)sh";

constexpr std::string_view kFish = R"sh(# PROGRAM completion fish | source
function __PROGRAM_words
  set -l words (commandline -opc)
  set -l found ($words[1] --complete (commandline -cp | string collect) 2>/dev/null)
  set -l option (string match -r -- '^--[^=]*=' (commandline -ct))
  test -n "$found"; or set found "$option"(__fish_complete_path (string replace -- "$option" '' (commandline -ct)))
  printf '%s\n' $found
end
for program in PROGRAM{,-check,-bench}{,-emulated}
  complete -c $program -f -a '(__PROGRAM_words)'
end
)sh";

const std::map<std::string_view, std::string_view> kShims = {
    {"bash", kBash}, {"fish", kFish}, {"zsh", kZsh}};

std::string shim(const std::string& shell) {
  const auto found = kShims.find(shell);
  if (found == kShims.end()) {
    const std::vector<std::string> shells = {"bash", "zsh", "fish"};
    throw std::invalid_argument(
        fmt::format("no completion for '{}'{}; there is one for bash, zsh, "
                    "fish",
                    shell, metrics::did_you_mean(shell, shells)));
  }
  const std::string program = process::program_name();
  return CLI::detail::find_and_replace(std::string(found->second), "PROGRAM", program);
}

}  // namespace

void add_completion(CommandLine& line) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = line.add(
      "completion", "Print the script that completes these commands in a shell", kCompletionFooter);
  command->add_option("shell", *shell, "The shell")->required()->type_name("{bash,zsh,fish}");
  line.on_run(command, [=] {
    fmt::print("{}", shim(*shell));
    return 0;
  });
}

}  // namespace warpgauge::commands
