// Judges kernels by their names, and writes the outcome.
#include "harness/programs/judge_kernels.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <utility>

#include "harness/files/colour.h"
#include "harness/files/printable.h"
#include "harness/outcome/outcome_text.h"
#include "metrics/budgets/judge.h"

namespace warpgauge::programs {
metrics::Budgets budgets_of(const JudgeOptions& options) {
  metrics::Budgets budgets;
  if (!options.budgets.empty()) budgets = metrics::Budgets::load_unregistered(options.budgets);
  if (!options.project.empty()) {
    budgets.rest_on(metrics::Budgets::load_project(options.project, options.project.string()));
  }
  return budgets;
}

std::regex kernel_expression(const std::string& text) {
  // A search finds it anywhere; with this in front it takes the square of a name's length.
  const bool is_needless = text.starts_with(".*") && !text.starts_with(".*?");
  try {
    return std::regex(text.substr(is_needless ? 2 : 0));
  } catch (const std::regex_error& error) {
    throw std::invalid_argument(
        fmt::format("--kernels '{}': not a regular expression: {}", text, error.what()));
  }
}

KernelJudge::KernelJudge(metrics::Run run, const outcome::OutFolder& out, outcome::Kept kept)
    : run_(std::move(run)),
      out_(out),
      kept_(kept),
      requirements_(outcome::asked_requirements(run_.asked)),
      today_(metrics::today()) {}

outcome::RecordedRun& KernelJudge::recorded() {
  if (!recorded_) recorded_.emplace(run_, out_.facts(), kept_);
  return *recorded_;
}

void KernelJudge::add(ProgramCase program_case) {
  ++kernels_;
  if (!program_case.device.name.empty()) recorded().add_device(program_case.device);
  const metrics::References references(program_case.facts);
  for (metrics::Fact& fact : program_case.facts)
    metrics::judge(fact, program_case.budgets, today_, references);
  recorded().add(std::move(program_case.facts));
}

outcome::ExitCode KernelJudge::end(Beside beside, std::FILE* stream) {
  if (!beside.faults.empty()) recorded().add(std::move(beside.faults));
  if (!recorded_) {
    for (const auto* sentences : {&beside.left_out, &beside.lost}) {
      for (const std::string& one : *sentences) {
        fmt::print(stderr, "{}\n", files::printable(one));
      }
    }
    return outcome::kNotMeasured;
  }
  const auto outcome = recorded_->end(
      {.requirements = requirements_,
       .lost = std::move(beside.lost),
       .left_out = std::move(beside.left_out),
       .remarks = std::move(beside.remarks),
       .repeat = [&](const outcome::JudgedValue& value) { return beside.repeat(*value.fact); },
       .kernels = true},
      out_.results());
  out_.write_summary(outcome::markdown_text(*outcome));
  fmt::print(stream, "{}\n{}{}", beside.text,
             outcome::terminal_text(*outcome, files::may_be_coloured(fileno(stream))),
             out_.files_text());
  return outcome->exit_code();
}

}  // namespace warpgauge::programs
