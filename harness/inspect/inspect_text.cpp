#include "harness/inspect/inspect_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "harness/outcome/repeat_command.h"
#include "harness/process/program_name.h"
#include "harness/programs/program_text.h"

namespace warpgauge::inspect {

using programs::value_of;

std::string resources_table(const std::vector<programs::ProgramCase>& cases) {
  constexpr std::size_t kShown = 40;
  constexpr std::string_view kRow = "{:<8} {:>4} {:>6} {:>6} {:>6} {:>7} {:>9} {:>7}  {}\n";
  if (cases.empty()) return "";
  std::string text = fmt::format(fmt::runtime(kRow), "arch", "regs", "stack", "loads", "stores",
                                 "shared", "occupancy", "code", "kernel");
  for (std::size_t i = 0; i < std::min(kShown, cases.size()); ++i) {
    const programs::ProgramCase& one = cases[i];
    fmt::format_to(std::back_inserter(text), fmt::runtime(kRow), one.facts.front().arch,
                   value_of(one, "registers"), value_of(one, "stack.bytes"),
                   value_of(one, "local.load_instructions"),
                   value_of(one, "local.store_instructions"), value_of(one, "shared.static_bytes"),
                   value_of(one, "occupancy.theoretical"), value_of(one, "code.bytes"),
                   programs::shortened(one.kernel));
  }
  if (cases.size() > kShown) {
    fmt::format_to(std::back_inserter(text), "and {} more, see facts.jsonl\n",
                   cases.size() - kShown);
  }
  return text + "loads and stores: instructions on local memory\n";
}

std::string repeat_inspect(const InspectOptions& options, const metrics::Fact& fact) {
  std::string command = fmt::format("{} inspect", process::program_name());
  if (!fact.arch.empty()) command += " --arch " + fact.arch;
  command += programs::judge_options(options, fact);
  if (options.threads) command += fmt::format(" --block {}", *options.threads);
  if (options.strict) command += " --strict";
  for (const std::filesystem::path& thing : options.things) {
    command += ' ' + outcome::shell_word(thing.string());
  }
  return command;
}

}  // namespace warpgauge::inspect
