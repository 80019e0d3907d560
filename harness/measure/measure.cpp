// Measures launches inside of a user's test (warpgauge/measure.h).
#include "warpgauge/measure.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

#include "harness/cases/built_architectures.h"
#include "harness/cases/launch_log.h"
#include "harness/ctest_device.h"
#include "harness/devices.h"
#include "harness/files/printable.h"
#include "harness/files/shell_word.h"
#include "harness/files/source_root.h"
#include "harness/measure/measured_budgets.h"
#include "harness/measure/open_ranges.h"
#include "harness/measuring/blank_facts.h"
#include "harness/measuring/case_runner.h"
#include "harness/measuring/compile_time_facts.h"
#include "harness/measuring/exact_count_facts.h"
#include "harness/measuring/missing_facts.h"
#include "harness/measuring/provenance.h"
#include "harness/outcome/exit_code.h"
#include "harness/outcome/finding_text.h"
#include "harness/process/program.h"
#include "harness/runtime.h"
#include "metrics/base/nearest.h"
#include "metrics/budgets/judge.h"
#include "metrics/cupti/cupti.h"
#include "metrics/facts/catalog.h"
#include "warpgauge/cuda_error.h"

namespace warpgauge {

using metrics::Fact;

namespace {

/// This program, as people call it from the top of the project.
std::string program_here() {
  return files::relative_to_root(process::program_path(is_emulated()).string());
}

}  // namespace

/// The line counter and the compile-time values of this process.
class Measuring {
 public:
  static Measuring& instance() {
    static Measuring measuring;
    return measuring;
  }

  Measuring(const Measuring&) = delete;
  Measuring& operator=(const Measuring&) = delete;

  /// Ends the run in the file of facts: here, because a program that measures may have any main().
  ~Measuring() {
    if (!writer_) return;
    const bool failed = verdicts_.contains(metrics::Verdict::fail);
    try {
      writer_->write_end({.counts = verdicts_,
                          .exit_code = failed ? outcome::kOverBudget : outcome::kWithinBudget,
                          .left_out = {}});
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}\n", error.what());
    }
  }

  const std::string& why_not() const { return why_not_; }

  /// Appends them to the file that WARPGAUGE_FACTS names. Throws metrics::FactError.
  void keep(const std::vector<Fact>& facts) {
    if (!writer_) return;
    for (const Fact& fact : facts) {
      if (fact.verdict != metrics::Verdict::unbudgeted) ++verdicts_[fact.verdict];
    }
    writer_->write(facts);
  }

  /// The facts of one run of `launch`, of the whole of it, not judged.
  std::vector<Fact> facts_of(const Case& measured, const std::function<void()>& launch) {
    if (!why_not_.empty()) throw NotMeasured(why_not_);
    try {
      const LaunchLog log(LaunchLog::Mode::record);
      const auto once = [&] {
        forget_failed_launches();
        launch();
        WARPGAUGE_CUDA(cudaGetLastError());
        refuse_failed_launches();
        if (log.launches().empty()) throw NotMeasured("no kernel was launched");
      };
      const auto lines = counter_->count(once, nullptr);
      need_counts_of_all(log.launches(), lines);
      std::vector<Fact> facts = counted_facts(
          lines, launched_fact(measured, log.launches(), arch_, device_), counts_source());
      std::erase_if(facts, [](const Fact& fact) { return fact.scope == metrics::Scope::line; });
      std::ranges::move(static_facts(measured, log.launches(), arch_), std::back_inserter(facts));
      return facts;
    } catch (const metrics::Unmeasured& error) {
      throw NotMeasured(error.what());
    } catch (const NoMachineCode& error) {
      throw NotMeasured(error.what());
    }
  }

  static Measurement measurement(std::string name, const std::vector<Fact>& facts) {
    Measurement measured;
    measured.name_ = std::move(name);
    for (const Fact& fact : facts) {
      const double* number = std::get_if<double>(&fact.value);
      Measurement::Value value{
          .unit = std::string(metrics::metric(fact.metric).unit),
          .line = fact.line == 0 ? "" : fmt::format("{}:{}", fact.file, fact.line)};
      if (number != nullptr) value.value = *number;
      if (number == nullptr) {
        value.why_not =
            std::holds_alternative<std::string>(fact.value) ? "it is a word" : fact.reason;
      } else if (fact.confidence != "exact") {
        value.why_not =
            fmt::format("{} is only {}: {}", *number, fact.confidence, fact.confidence_reason);
      }
      measured.values_[fact.metric] = std::move(value);
    }
    return measured;
  }

 private:
  Measuring() {
    if (is_emulated()) {
      emulate_arch(default_emulated_arch());
    } else {
      use_assigned_device();
    }
    const std::optional<metrics::Device> device = current_device();
    if (!device) {
      why_not_ = why_no_device();
      return;
    }
    arch_ = running_arch(*device);
    device_ = device->name;
    if (const char* path = std::getenv("WARPGAUGE_FACTS"); path != nullptr && *path != '\0') {
      metrics::Run run = start_run("measure", {});
      run.program = program_here();
      run.devices = {*device};
      writer_ = std::make_unique<metrics::FactWriter>(path, std::move(run));
    }
    try {
      counter_ = make_line_counter();
    } catch (const metrics::Unmeasured& unmeasured) {
      why_not_ = unmeasured.what();
    }
  }

  std::string why_not_, arch_, device_;
  std::unique_ptr<LineCounter> counter_;
  std::unique_ptr<metrics::FactWriter> writer_;  ///< if facts are to be kept
  std::map<metrics::Verdict, int> verdicts_;     ///< how many measurements had each verdict
};

namespace {

/// The test that runs, and how often it has measured. The names are empty between tests, and in a
/// program whose framework does not name its tests.
struct RunningTest {
  std::string suite, test;
  int measured = 0;
};
RunningTest running_test;

/// The case that is measured next: suite.test.launch@N, the N-th measurement of a test. `where` is
/// blamed for values without a line of a kernel.
Case next_case(std::source_location where) {
  const auto& [suite, test, measured] = running_test;
  Case next;
  next.kind = metrics::CaseKind::measured;
  next.id = {.family = suite.empty() ? "measured" : suite,
             .variant = test.empty() ? "here" : test,
             .type = std::string(metrics::CaseId::kLaunchOfTest),
             .size = std::to_string(++running_test.measured)};
  next.file = files::relative_to_root(where.file_name());
  next.line = static_cast<int>(where.line());
  return next;
}

std::string repeat_command() {
  const auto& [suite, test, measured] = running_test;
  if (suite.empty()) return files::shell_word(program_here());
  return fmt::format("{} --gtest_filter={}", files::shell_word(program_here()),
                     files::shell_word(suite + "." + test));
}

}  // namespace

void name_measurements(std::string suite, std::string test) {
  running_test = {.suite = std::move(suite), .test = std::move(test)};
}

const Measurement::Value& Measurement::at(std::string_view metric) const {
  if (const auto found = values_.find(metric); found != values_.end()) return found->second;
  if (metrics::find_metric(metric) != nullptr) {
    throw NotMeasured(
        fmt::format("{}: measure() gives counts and compile-time values only", metric));
  }
  std::vector<std::string> known;
  for (const metrics::Metric& row : metrics::catalog()) known.emplace_back(row.id);
  throw std::out_of_range(
      fmt::format("there is no metric '{}'{}", metric, metrics::did_you_mean(metric, known)));
}

double Measurement::operator[](std::string_view metric) const {
  const Value& value = at(metric);
  if (!value.why_not.empty()) throw NotMeasured(fmt::format("{}: {}", metric, value.why_not));
  return value.value;
}

const std::string& Measurement::line(std::string_view metric) const { return at(metric).line; }

std::string Measurement::str() const {
  std::string text = name_.empty() ? "" : fmt::format("in {}:\n", files::printable(name_));
  for (const auto& [metric, value] : values_) {
    text += value.why_not.empty() ? fmt::format("{} {} {}\n", metric, value.value, value.unit)
                                  : fmt::format("{} not measured: {}\n", metric, value.why_not);
  }
  return text;
}

void prepare_to_measure() { Measuring::instance(); }

std::string why_nothing_is_measured() { return Measuring::instance().why_not(); }

Measurement measure(const std::function<void()>& launch, std::source_location where) {
  std::string name = open_ranges();
  const std::vector<Fact> facts = Measuring::instance().facts_of(next_case(where), launch);
  Measuring::instance().keep(facts);
  return Measuring::measurement(std::move(name), facts);
}

std::string over_budget(const std::function<void()>& launch, std::string_view budget,
                        std::source_location where) {
  Case measured = next_case(where);
  auto [id, budgets, from] = budgets_of(budget, measured);
  measured.id = id;
  const std::string name = open_ranges();
  std::vector<Fact> facts = Measuring::instance().facts_of(measured, launch);
  const Fact blank = blank_fact(measured, facts.front().arch);
  for (const metrics::Source source : {metrics::Source::sass, metrics::Source::range,
                                       metrics::Source::timer, metrics::Source::emulator}) {
    std::ranges::move(
        missing_facts(facts, source, "measure() gives counts and compile-time values only",
                      {blank, budgets}),
        std::back_inserter(facts));
  }
  const auto today = metrics::today();
  const metrics::References references(facts);
  std::string text;
  for (Fact& fact : facts) {
    metrics::judge(fact, budgets, today, references);
    if (fact.verdict != metrics::Verdict::unmeasured) continue;
    if (fact.would) {  // measured, but not surely enough to be judged: listed, as by the gate
      fmt::print("not judged: {}: {}: {}\n", measured.id.str(), fact.metric, fact.reason);
    } else {
      text += fmt::format("{} has a budget, and was not measured: {}\n", fact.metric, fact.reason);
    }
  }
  Measuring::instance().keep(facts);
  for (const outcome::Finding& finding :
       outcome::findings_of(facts, metrics::Run(), outcome::Requirements())) {
    if (finding.wrong) text += outcome::finding_text(finding, repeat_command());
  }
  if (text.empty()) return "";
  text += fmt::format("  budgets  {}\n", from);
  return name.empty() ? text : fmt::format("in {}:\n{}", files::printable(name), text);
}

}  // namespace warpgauge
