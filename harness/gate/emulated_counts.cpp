#include "harness/gate/emulated_counts.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "harness/measuring/blank_facts.h"
#include "harness/process/child_program.h"
#include "harness/process/program.h"
#include "harness/runtime.h"

namespace warpgauge::gate {

bool can_count_emulated(const GateOptions& options) {
  return !is_emulated() && options.use_cupti && !options.requirements.cupti &&
         std::filesystem::exists(process::program_path(true)) && process::has_gpu();
}

std::string EmulatedCounts::reason(const std::string& id) const {
  if (const auto found = errors.find(id); found != errors.end()) return found->second;
  return facts.contains(id) ? std::string(kNoSuchAccess) : ending;
}

EmulatedCounts count_emulated(const GateOptions& options, const std::string& arch) {
  const std::filesystem::path out = options.out / "emulated";
  std::filesystem::create_directories(out);
  std::vector<std::string> command = {
      process::program_path(true), "gate",
      "--device=emulated",         "--arch=" + arch,
      "--out=" + out.string(),     fmt::format("--timeout={}", options.time_limit.count())};
  for (const std::string& glob : options.selection.filter) command.push_back("--filter=" + glob);
  for (const std::string& glob : options.selection.exclude) command.push_back("--exclude=" + glob);
  if (!options.project.empty()) command.push_back("--project=" + options.project.string());
  if (options.selection.large) command.emplace_back("--large");
  const std::filesystem::path printed = out / "gate.txt";
  const process::Ending ending = process::run_to_its_end(command, {process::build_check()},
                                                         {.output = printed, .messages = ""});

  EmulatedCounts counts;
  counts.ending = fmt::format("the emulator did not count it: {} {}; {} has what it printed",
                              command[0], ending.str(), printed.string());
  if (!std::filesystem::exists(out / "facts.jsonl")) return counts;
  for (metrics::StoredRun& run : metrics::read_facts(out / "facts.jsonl")) {
    counts.devices = std::move(run.run.devices);
    for (metrics::Fact& fact : run.facts) {
      const std::string id = fact.id.str();
      if (fact.source == "emulator") {
        counts.facts[id].push_back(std::move(fact));
      } else if (fact.verdict == metrics::Verdict::error) {
        counts.errors[id] = "the emulator did not count it: " + fact.reason;
      }
    }
  }
  return counts;
}

}  // namespace warpgauge::gate
