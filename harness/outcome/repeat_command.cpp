// Writes the command that gives a verdict again.
#include "harness/outcome/repeat_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "harness/build_info.h"
#include "harness/cases/registry.h"
#include "harness/files/shell_word.h"
#include "metrics/base/demangled.h"
#include "metrics/facts/catalog.h"

namespace warpgauge::outcome {
namespace {

using metrics::Fact;

bool is_emulator(const metrics::Device& device) { return device.driver == "emulator"; }

bool was_emulated(const JudgedValue& value) {
  const Fact& fact = *value.fact;
  if (fact.source == "emulator") return true;
  if (fact.source != "harness") return false;
  const std::vector<metrics::Device>& devices = value.run->devices;
  if (fact.context->device.empty()) return std::ranges::any_of(devices, is_emulator);
  const auto device = std::ranges::find(devices, fact.context->device, &metrics::Device::name);
  return device != devices.end() && is_emulator(*device);
}

bool is_large(const JudgedValue& value) {
  const std::vector<Case>& cases = Registry::instance().cases();
  const auto registered = std::ranges::find(cases, value.fact->id, &Case::id);
  return registered == cases.end() ? value.run->asked.large : registered->large;
}

/// The program beside the gate that takes times.
std::string bench_command() {
  const std::string gate(kBuildInfo.gate_command);
  if (gate == "ci/gate") return "build/ci/bin/warpgauge-bench";
  return gate.substr(0, gate.rfind(' ')) + "-bench";
}

/// Repeats a kernel of a program; an id has only a part of its name.
std::string repeat_program(std::string_view command, const Fact& fact) {
  const std::string kernel =
      fact.kernel.empty() ? "" : " --kernels " + files::shell_word(fact.id.variant);
  return fmt::format("warpgauge {}{} -- {} ...", command, kernel,
                     files::shell_word(fact.id.family));
}

/// Repeats a kernel of a file; the id has only a part of its name.
std::string repeat_inspect(const Fact& fact) {
  const std::string arch = fact.arch.empty() ? "" : " --arch " + fact.arch;
  const std::string kernel =
      fact.kernel.empty() ? "" : " --kernels " + files::shell_word(fact.id.variant);
  return fmt::format("warpgauge inspect{}{} {}", arch, kernel, files::shell_word(fact.id.family));
}

/// Repeats a test. A launch that is held against the budgets of a case has the case's id, not that
/// of its test.
std::string repeat_test(const metrics::Run& run, const Fact& fact) {
  const std::string program = run.program.empty() ? "..." : files::shell_word(run.program);
  if (!fact.id.is_of_test()) return program;
  return fmt::format("{} --gtest_filter={}", program,
                     files::shell_word(fmt::format("{}.{}", fact.id.family, fact.id.variant)));
}

}  // namespace

std::string trial_option(const Fact& fact) {
  // The value of this metric is the trial that fails.
  const bool fuzzed = fact.metric == "result.fails_at" && fact.verdict == metrics::Verdict::error;
  return fuzzed ? " --fuzz-at " + files::shell_word(metrics::to_text(fact.value)) : "";
}

std::string repeat_command(const JudgedValue& value) {
  const Fact& fact = *value.fact;
  if (fact.context->kind == metrics::CaseKind::attached) return repeat_program("attach", fact);
  if (fact.context->kind == metrics::CaseKind::emulated) {
    return repeat_program("emulate --arch " + fact.arch, fact);
  }
  if (fact.context->kind == metrics::CaseKind::inspected) return repeat_inspect(fact);
  if (fact.context->kind == metrics::CaseKind::measured) return repeat_test(*value.run, fact);
  const std::string filter =
      fmt::format(" --filter '{}'{}", fact.id.str(), is_large(value) ? " --large" : "");
  if (metrics::metric(fact.metric).source == metrics::Source::timer)
    return bench_command() + filter;
  const bool emulated = was_emulated(value);
  const bool of_arch = (emulated || fact.source == "cubin") && !fact.arch.empty();
  return fmt::format("{}{}{}{}{}", kBuildInfo.gate_command, emulated ? " --device=emulated" : "",
                     of_arch ? " --arch " + fact.arch : "", filter, trial_option(fact));
}

}  // namespace warpgauge::outcome
