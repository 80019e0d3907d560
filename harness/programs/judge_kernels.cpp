#include "harness/programs/judge_kernels.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <utility>

#include "harness/files/colour.h"
#include "harness/files/printable.h"
#include "harness/outcome/outcome_text.h"
#include "harness/outcome/recorded_run.h"
#include "metrics/judge.h"

namespace warpgauge::programs {
namespace {

outcome::Requirements requirements_of(const metrics::Asked& asked) {
  return {.strict = asked.strict,
          .ptxas = std::ranges::count(asked.require, "ptxas") > 0,
          .cupti = std::ranges::count(asked.require, "cupti") > 0};
}

std::unique_ptr<outcome::Outcome> judged(Kernels& kernels, metrics::Run run,
                                         const outcome::OutFolder& out) {
  const outcome::Requirements requirements = requirements_of(run.asked);
  outcome::RecordedRun recorded(std::move(run), out.facts());
  const auto today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  for (ProgramCase& one : kernels.cases) {
    if (!one.device.name.empty()) recorded.add_device(one.device);
    const metrics::References references(one.facts);
    for (metrics::Fact& fact : one.facts) metrics::judge(fact, one.budgets, today, references);
    recorded.add(std::move(one.facts));
  }
  recorded.add(std::move(kernels.faults));
  return recorded.end(
      {.requirements = requirements,
       .lost = kernels.lost,
       .repeat = [&](const outcome::JudgedValue& value) { return kernels.repeat(*value.fact); },
       .kernels = true},
      out.results());
}

}  // namespace

metrics::Budgets budgets_of(const JudgeOptions& options) {
  metrics::Budgets budgets;
  if (!options.budgets.empty()) budgets = metrics::Budgets::load_unregistered(options.budgets);
  if (!options.project.empty()) {
    budgets.rest_on(metrics::Budgets::load_project(options.project, options.project.string()));
  }
  return budgets;
}

std::regex kernel_expression(const std::string& text) {
  try {
    return std::regex(text);
  } catch (const std::regex_error& error) {
    throw std::invalid_argument(
        fmt::format("--kernels '{}': not a regular expression: {}", text, error.what()));
  }
}

outcome::ExitCode judge_kernels(Kernels kernels, metrics::Run run, const outcome::OutFolder& out,
                                std::FILE* stream) {
  if (kernels.cases.empty() && kernels.faults.empty()) {
    for (const std::string& one : kernels.lost) fmt::print(stderr, "{}\n", files::printable(one));
    return outcome::kNotMeasured;
  }
  const auto outcome = judged(kernels, std::move(run), out);
  out.write_summary(outcome::markdown_text(*outcome));
  fmt::print(stream, "{}\n{}facts: {}\nresults: {}\nsummary: {}\n", kernels.text,
             outcome::terminal_text(*outcome, files::may_be_coloured(fileno(stream))),
             out.facts().string(), out.results().string(), out.summary().string());
  return outcome->exit_code();
}

}  // namespace warpgauge::programs
