// Adds the options that select cases to a command.
#include "harness/cases/filter_options.h"

#include <string>
#include <vector>

namespace warpgauge {
namespace {

void add_globs(CLI::App& command, const std::string& name, const std::string& help,
               std::vector<std::string>& globs) {
  const auto add = [&globs](const std::vector<std::string>& given) {
    for (const std::string& glob : given) {
      if (!glob.empty()) globs.push_back(glob);
    }
  };
  command.add_option_function<std::vector<std::string>>(name, add, help + " (repeatable)")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->type_name("GLOB,...");
}

}  // namespace

void add_filter_options(CLI::App& command, Selection& selection) {
  add_globs(command, "--filter", "Only cases whose id matches this glob", selection.filter);
  add_globs(command, "--exclude", "Not the cases whose id matches this glob", selection.exclude);
}

}  // namespace warpgauge
