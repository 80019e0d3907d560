#include "harness/commands/completion_script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "metrics/nearest.h"

namespace warpgauge::commands {
namespace {

/// In the single quotes of a shell.
std::string quoted(std::string_view text) {
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

// ---- bash, and zsh, which can complete as bash does

/// In bash, words are divided at '=' and '@' as well; an id, or an option with its value, is one
/// here.
constexpr std::string_view kBash = R"sh(# Completes PROGRAM: eval "$(PROGRAM completion SHELL)"
FUNCTION_words() {
  local program=$1 line=${COMP_LINE:0:$COMP_POINT}
  local word=${line##*[[:space:]]} value before begin='' option='' options='' words='' files=''
  before=${line%"$word"}
  before=${before%"${before##*[![:space:]]}"}
  before=${before##*[[:space:]]}
  value=$word
  if [[ $word == --*=* ]]; then
    option=${word%%=*} value=${word#*=}
  elif [[ $before == --* && $before != *=* ]]; then
    option=$before
  fi
  value=${value#[\'\"]}
  case ${program##*/} in
    PROGRAM-check* | PROGRAM-bench*)
      options=$("$program" --help 2>/dev/null | grep -oE -e '--[a-z][a-z_-]*[a-z]=?' | sort -u)
      files=1
      case $option in
        --filter | --gtest_filter | --benchmark_filter)
          words=$("${program%PROGRAM-*}PROGRAM" list --large 2>/dev/null)
          ;;
      esac
      ;;
    *)
      if ((COMP_CWORD == 1)); then
        words=COMMANDS options='--help --version'
      else
        FUNCTION_command
      fi
      ;;
  esac
  COMPREPLY=()
  if [[ $word == -* && $word != *=* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [[ -n $words ]]; then
    if [[ $value == *,* ]]; then begin=${value%,*},; fi
    COMPREPLY=($(compgen -P "$begin" -W "$words" -- "${value#"$begin"}"))
  elif [[ -n $files ]]; then
    COMPREPLY=($(compgen -f -- "$value"))
    compopt -o filenames 2>/dev/null
  fi
  # bash keeps what stands before its last word, which is not to be repeated; zsh has it in the word.
  if [[ -n ${ZSH_VERSION-} ]]; then
    if [[ $word == --*=* ]]; then COMPREPLY=("${COMPREPLY[@]/#/$option=}"); fi
  elif [[ $value == *[=@:]* ]]; then
    begin=${value%"${value##*[=@:]}"}
    COMPREPLY=("${COMPREPLY[@]#"$begin"}")
  fi
}
# Sets what the function above then takes from: options, words or files.
FUNCTION_command() {
  local asked=$option
  case ${COMP_WORDS[1]} in
BRANCHES    EXTERNALS)
      if [[ $word == -* && $word != *=* ]]; then asked=-; fi
      if ((COMP_CWORD > 2)); then
        words=$(WARPGAUGE_COMPLETE=$asked "$program" "${COMP_WORDS[1]}" "${COMP_WORDS[2]}" 2>/dev/null)
      else
        words=$(WARPGAUGE_COMPLETE=$asked "$program" "${COMP_WORDS[1]}" 2>/dev/null)
      fi
      options=$words files=1
      case $words in
        GLOB) words=$("$program" list --large 2>/dev/null) ;;
        ARCH) words=$("$program" list --archs 2>/dev/null) ;;
      esac
      ;;
  esac
}
complete -F FUNCTION_words PROGRAM PROGRAM-emulated
complete -F FUNCTION_words PROGRAM-check PROGRAM-check-emulated PROGRAM-bench PROGRAM-bench-emulated
)sh";

/// Behind the bash of zsh, whose functions are loaded from folders by their first use: then this is
/// run by the key that completes.
constexpr std::string_view kZshEnd = R"sh(if [[ ${funcstack[1]-} == _PROGRAM ]]; then
  _bash_complete -F FUNCTION_words
fi
)sh";

/// How bash gets the words for a value; empty where files are meant.
std::string bash_words(const CompletedOption& option) {
  switch (option.value) {
    case Completed::choices:
      return quoted(fmt::format("{}", fmt::join(option.choices, " ")));
    case Completed::ids:
      return "$(\"$program\" list --large 2>/dev/null)";
    case Completed::archs:
      return "$(\"$program\" list --archs 2>/dev/null)";
    default:
      return "";
  }
}

/// The branch of a command: its options, and the words for their values. A flag is followed by an
/// argument without a name.
std::string bash_branch(const CompletedCommand& command) {
  std::vector<std::string> options = {"--help"}, flags;
  std::string values;
  bool has_argument = false;
  for (const CompletedOption& option : command.options) {
    if (!option.name.empty()) options.push_back(option.name);
    if (!option.name.empty() && !option.takes_value) flags.push_back(option.name);
    if (option.value == Completed::nothing) continue;
    if (option.name.empty() && std::exchange(has_argument, true)) continue;  // one stands for all
    const std::string words = bash_words(option);
    fmt::format_to(std::back_inserter(values), "        {}) {} ;;\n",
                   option.name.empty() ? "''" : option.name,
                   words.empty() ? "files=1" : "words=" + words);
  }
  std::string cases;
  if (!values.empty()) cases = fmt::format("      case $asked in\n{}      esac\n", values);
  if (!flags.empty() && !cases.empty()) {
    cases = fmt::format("      case $option in {}) asked='' ;; esac\n", fmt::join(flags, " | ")) +
            cases;
  }
  return fmt::format("    {})\n      options={}\n{}      ;;\n", command.name,
                     quoted(fmt::format("{}", fmt::join(options, " "))), cases);
}

/// The prefix of the functions of a script.
std::string function_name(const std::string& program) {
  std::string name = "_" + program;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

std::string bash_script(const std::string& program, std::string_view shell,
                        const std::vector<CompletedCommand>& commands) {
  std::string branches;
  std::vector<std::string> names, externals;
  for (const CompletedCommand& command : commands) {
    names.push_back(command.name);
    if (command.is_external) {
      externals.push_back(command.name);
    } else {
      branches += bash_branch(command);
    }
  }
  std::string script(kBash);
  if (shell == "zsh") script += kZshEnd;
  script = replaced(script, "COMMANDS", quoted(fmt::format("{}", fmt::join(names, " "))));
  script = replaced(script, "EXTERNALS", fmt::format("{}", fmt::join(externals, " | ")));
  script = replaced(script, "BRANCHES", branches);
  script = replaced(script, "FUNCTION", function_name(program));
  script = replaced(script, "SHELL", shell);
  return replaced(script, "PROGRAM", program);
}

// ---- fish

/// External commands print words for the place at the cursor, one a line.
constexpr std::string_view kFish = R"sh(# Completes PROGRAM: PROGRAM completion fish | source
function FUNCTION_external
  set -l before (commandline -opc)
  set -l word (commandline -ct)
  set -l asked ''
  set -l begin ''
  if string match -q -- '--*=*' $word
    set asked (string replace -r '=.*' '' -- $word)
    set begin $asked=
  else if string match -q -- '-*' $word
    set asked -
  else if string match -q -- '--*' $before[-1]
    set asked $before[-1]
  end
  set -l words (env WARPGAUGE_COMPLETE=$asked PROGRAM $before[2..3] 2>/dev/null)
  switch "$words"
    case GLOB
      set words (PROGRAM list --large 2>/dev/null)
    case ARCH
      set words (PROGRAM list --archs 2>/dev/null)
    case ''
      set words (__fish_complete_path (string replace -- "$begin" '' $word))
  end
  printf '%s\n' $begin$words
end
complete -c PROGRAM -f
complete -c PROGRAM -n __fish_use_subcommand -l version
for program in PROGRAM-check PROGRAM-bench
  complete -c $program -a "($program --help | string match -ar -- '--[a-z][a-z_-]*[a-z]=?' | sort -u)"
end
complete -c PROGRAM-bench -l filter -xa '(PROGRAM list --large 2>/dev/null)'
complete -c PROGRAM-check -l gtest_filter -xa '(PROGRAM list --large 2>/dev/null)'
)sh";

std::string fish_value(const std::string& program, const CompletedOption& option) {
  switch (option.value) {
    case Completed::choices:
      return " -xa " + quoted(fmt::format("{}", fmt::join(option.choices, " ")));
    case Completed::ids:
      return fmt::format(" -xa '({} list --large 2>/dev/null)'", program);
    case Completed::archs:
      return fmt::format(" -xa '({} list --archs 2>/dev/null)'", program);
    default:
      return option.takes_value ? " -rF" : "";
  }
}

/// In the single quotes of fish, where a backslash hides a quote.
std::string fish_quoted(std::string_view text) {
  return "'" + replaced(replaced(std::string(text), "\\", "\\\\"), "'", "\\'") + "'";
}

std::string fish_script(const std::string& program, const std::vector<CompletedCommand>& commands) {
  std::string script = replaced(std::string(kFish), "FUNCTION", "_" + function_name(program));
  script = replaced(script, "PROGRAM", program);
  auto out = std::back_inserter(script);
  for (const CompletedCommand& command : commands) {
    fmt::format_to(out, "complete -c {} -n __fish_use_subcommand -a {} -d {}\n", program,
                   command.name, fish_quoted(command.help));
    const std::string of_command =
        fmt::format("complete -c {} -n '__fish_seen_subcommand_from {}'", program, command.name);
    if (command.is_external) {
      fmt::format_to(out, "{} -a '(_{}_external)'\n", of_command, function_name(program));
    }
    for (const CompletedOption& option : command.options) {
      const std::string name =
          option.name.empty()
              ? ""
              : fmt::format(" -l {} -d {}", option.name.substr(2), fish_quoted(option.help));
      fmt::format_to(out, "{}{}{}\n", of_command, name, fish_value(program, option));
    }
  }
  return script;
}

}  // namespace

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
