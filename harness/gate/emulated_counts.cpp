// Runs the emulated program in place of a GPU's counters, and takes its counts over.
#include "harness/gate/emulated_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/measuring/blank_facts.h"
#include "harness/measuring/missing_facts.h"
#include "harness/process/child_program.h"
#include "harness/process/program.h"
#include "harness/runtime.h"

namespace warpgauge::gate {
namespace {

using metrics::Fact;
using metrics::Verdict;

/// The results of a gate of the emulated program.
struct EmulatedCounts {
  std::map<std::string, std::vector<Fact>> facts;  ///< by case; their source is "emulator"
  std::vector<metrics::Device> devices;            ///< emulated ones
  std::map<std::string, std::string> errors;       ///< by case: what the emulator found
  std::string ending;                              ///< how its program ended

  /// Why the case was not counted; empty if it was.
  std::string why_not_counted(const std::string& id) const {
    if (const auto found = errors.find(id); found != errors.end()) return found->second;
    return facts.contains(id) ? "" : ending;
  }
};

/// Runs the gate of the emulated program as `arch`.
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
    for (Fact& fact : run.facts) {
      const std::string id = fact.id.str();
      if (fact.source == "emulator") {
        counts.facts[id].push_back(std::move(fact));
      } else if (fact.verdict == Verdict::error) {
        counts.errors[id] = "the emulator did not count it: " + fact.reason;
      }
    }
  }
  return counts;
}

}  // namespace

Counts who_counts(const SelfTestResult& tested, const GateOptions& options) {
  const bool is_emulators = !tested.not_counted.empty() && !is_emulated() && options.use_cupti &&
                            !options.requirements.cupti &&
                            std::filesystem::exists(process::program_path(true)) &&
                            process::has_gpu();
  if (!is_emulators) return Counts::here;
  fmt::print("counts are the emulator's; results and times the GPU's\n");
  return Counts::emulated_program;
}

void measure_emulated_counts(const Plan& plan, FactLog& log) {
  Cases cases = log.by_result(plan.cases, [](const std::set<Verdict>& results) {
    return !results.empty() && !results.contains(Verdict::error);
  });
  std::erase_if(cases, [](const Case* planned) { return !planned->counted; });
  if (cases.empty()) return;
  const std::string& arch = plan.gpu.arch;
  EmulatedCounts counts = count_emulated(plan.options, arch);
  for (const metrics::Device& device : counts.devices) log.add_device(device);
  for (const Case* counted : cases) {
    const std::string why_not_counted = counts.why_not_counted(counted->id.str());
    std::vector<Fact>& facts = counts.facts[counted->id.str()];
    std::ranges::move(missing_counts(facts, why_not_counted,
                                     {blank_fact(*counted, arch), plan.budgets.of(counted->id)}),
                      std::back_inserter(facts));
    log.write(std::move(facts));
  }
}

}  // namespace warpgauge::gate
