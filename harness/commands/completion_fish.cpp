// The completion script of fish.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/commands/completion_shells.h"

namespace warpgauge::commands {
namespace {

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
complete -c PROGRAM-bench -l filter -l exclude -xa '(PROGRAM list --large 2>/dev/null)'
complete -c PROGRAM-check -l gtest_filter -xa '(PROGRAM list --large 2>/dev/null)'
)sh";

std::string fish_value(const std::string& program, const CompletedOption& option) {
  switch (option.value) {
    case Completed::choices:
      return " -xa " + in_quotes(fmt::format("{}", fmt::join(option.choices, " ")));
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

}  // namespace

std::string fish_script(const std::string& program, const std::vector<CompletedCommand>& commands) {
  std::string script = replaced(std::string(kFish), "FUNCTION", "_" + function_name(program));
  script = replaced(script, "PROGRAM", program);
  for (const CompletedCommand& command : commands) {
    script += fmt::format("complete -c {} -n __fish_use_subcommand -a {} -d {}\n", program,
                          command.name, fish_quoted(command.help));
    const std::string of_command =
        fmt::format("complete -c {} -n '__fish_seen_subcommand_from {}'", program, command.name);
    if (command.is_external) {
      script += fmt::format("{} -a '(_{}_external)'\n", of_command, function_name(program));
    }
    for (const CompletedOption& option : command.options) {
      const std::string name =
          option.name.empty()
              ? ""
              : fmt::format(" -l {} -d {}", option.name.substr(2), fish_quoted(option.help));
      script += fmt::format("{}{}{}\n", of_command, name, fish_value(program, option));
    }
  }
  return script;
}

}  // namespace warpgauge::commands
