// The completion script of bash, and of zsh, which can complete as bash does.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "harness/commands/completion_shells.h"

namespace warpgauge::commands {
namespace {

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
        --filter | --exclude | --gtest_filter | --benchmark_filter)
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
  # bash keeps the text before its last word, so do not repeat it; in zsh it is part of the word.
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
      return in_quotes(fmt::format("{}", fmt::join(option.choices, " ")));
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
    values += fmt::format("        {}) {} ;;\n", option.name.empty() ? "''" : option.name,
                          words.empty() ? "files=1" : "words=" + words);
  }
  std::string cases;
  if (!values.empty()) cases = fmt::format("      case $asked in\n{}      esac\n", values);
  if (!flags.empty() && !cases.empty()) {
    cases = fmt::format("      case $option in {}) asked='' ;; esac\n", fmt::join(flags, " | ")) +
            cases;
  }
  return fmt::format("    {})\n      options={}\n{}      ;;\n", command.name,
                     in_quotes(fmt::format("{}", fmt::join(options, " "))), cases);
}

}  // namespace

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
  script = replaced(script, "COMMANDS", in_quotes(fmt::format("{}", fmt::join(names, " "))));
  script = replaced(script, "EXTERNALS", fmt::format("{}", fmt::join(externals, " | ")));
  script = replaced(script, "BRANCHES", branches);
  script = replaced(script, "FUNCTION", function_name(program));
  script = replaced(script, "SHELL", shell);
  return replaced(script, "PROGRAM", program);
}

}  // namespace warpgauge::commands
