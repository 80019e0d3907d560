// Registers a GoogleTest test for each case, and for each case and architecture.
#include "harness/check/registered_tests.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <map>
#include <ranges>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/cases/built_architectures.h"
#include "harness/cases/family_budgets.h"
#include "harness/cases/gpu_only.h"
#include "harness/cases/registry.h"
#include "harness/ctest_device.h"
#include "harness/measuring/blank_facts.h"
#include "harness/measuring/case_runner.h"
#include "harness/measuring/compile_time_facts.h"
#include "harness/measuring/hardware_counter_facts.h"
#include "harness/measuring/missing_facts.h"
#include "harness/measuring/provenance.h"
#include "harness/outcome/finding_text.h"
#include "harness/outcome/outcome.h"
#include "harness/outcome/recorded_run.h"
#include "harness/outcome/repeat_command.h"
#include "harness/process/gpu_turns.h"
#include "harness/process/program.h"
#include "harness/process/watchdog.h"
#include "harness/runtime.h"
#include "metrics/base/available_cores.h"
#include "metrics/budgets/judge.h"
#include "metrics/cupti/cupti.h"

namespace warpgauge::check {

/// State that the tests of this process share.
class Session {
 public:
  Session(const Options& options, std::string program)
      : options_(options),
        program_(std::move(program)),
        budgets_(Registry::instance()),
        today_(metrics::today()),
        recorded_(start_run("check",
                            {.architectures = unless_empty(options.arch), .large = options.large}),
                  options.facts) {
    // A failed unmeasured value fails its test, or skips it; nothing else is required.
    requirements_ = {.cubin = true, .judged = false};
  }

  /// Made when the first case is run: static tests need no device.
  CaseRunner& meter() {
    if (!meter_) {
      meter_ = make_runner();
      if (meter_->device()) recorded_.add_device(*meter_->device());
    }
    return *meter_;
  }

  /// Fuzzes cases in processes of their own, once each. This one must not have used a device.
  void fuzz(const Cases& cases) {
    Cases unknown = cases;
    std::erase_if(unknown, [&](const Case* tried) {
      return fuzzed_.contains(tried) || !why_not_fuzzed(*tried).empty();
    });
    for (const Case* tried : unknown) fuzzed_[tried] = std::nullopt;
    const process::GpuTurns turns;
    const fuzz::Processes processes = {
        .title = "fuzzed runs",
        .runner = [&] { return make_runner(&turns); },
        .budgets = [&](const Case& tried) -> const metrics::Budgets& { return budgets(tried); },
        .time_limit = options_.time_limit,
        .most = is_emulated() ? static_cast<std::size_t>(metrics::available_cores())
                              : process::processes_on_gpu(unknown.size(), false)};
    for (fuzz::Failure& failure : fuzz::failures_of(unknown, options_.fuzz, processes)) {
      fuzzed_[failure.failed] = std::move(failure);
    }
  }

  /// Why the trial that is asked for is none of this case; empty if it is.
  std::string why_not_fuzzed(const Case& tried) const {
    return options_.fuzz.only ? fuzz::why_not_allowed(tried, *options_.fuzz.only) : "";
  }

  /// The failure of a fuzzed case, if it has one.
  const std::optional<fuzz::Failure>& fuzzed(const Case& tried) const { return fuzzed_.at(&tried); }

  const metrics::Budgets& budgets(const Case& tested) const { return budgets_.of(tested.id); }

  /// Adds what `measure` gives of the cases that limits of `tested` are multiples of, if no test
  /// has measured them yet. They are judged in tests of their own.
  void add_ratios(const Case& tested, const std::string& arch, std::string_view metric,
                  const std::function<std::vector<metrics::Fact>(const Case&)>& measure) {
    for (const Case* other : budgets_.ratios_of(tested)) {
      const auto is_known = [&](const metrics::Fact& fact) {
        return fact.id == other->id && fact.arch == arch && fact.metric == metric;
      };
      if (std::ranges::none_of(measured_, is_known)) {
        std::ranges::move(measure(*other), std::back_inserter(measured_));
      }
    }
  }

  const Options& options() const { return options_; }
  const std::string& program() const { return program_; }

  /// Judges the facts; values over budget become failures of the running test. Returns those of
  /// whole cases.
  std::vector<metrics::Fact> assert_within_budget(std::vector<metrics::Fact> facts,
                                                  const std::string& test) {
    const std::string as_arch = options_.arch.empty() ? "" : " --arch " + options_.arch;
    const metrics::References references(facts, [this] { return std::span(measured_); });
    for (metrics::Fact& fact : facts) metrics::judge(fact, budgets(fact), today_, references);
    recorded_.add(facts);
    const metrics::Run run;
    for (const outcome::Finding& finding : outcome::findings_of(facts, run, requirements_)) {
      if (!finding.wrong) continue;
      const metrics::Fact& fact = *finding.shown().fact;
      ADD_FAILURE_AT(fact.file.c_str(), fact.line) << outcome::finding_text(
          finding, fmt::format("{} --gtest_filter='{}'{}{}", program_, test, as_arch,
                               outcome::trial_option(fact)));
    }
    std::erase_if(
        facts, [](const metrics::Fact& fact) { return fact.scope != metrics::Scope::whole_case; });
    std::ranges::copy(facts, std::back_inserter(measured_));
    return facts;
  }

  /// Ends the run in the file of facts.
  void end(outcome::ExitCode least) {
    recorded_.end({.requirements = requirements_}, options_.results, least);
  }

 private:
  std::unique_ptr<CaseRunner> make_runner(const process::GpuTurns* turns = nullptr) const {
    if (is_emulated()) {
      emulate_arch(options_.arch.empty() ? default_emulated_arch() : options_.arch,
                   options_.time_limit);
    } else {
      use_assigned_device();
    }
    return std::make_unique<CaseRunner>(options_.use_cupti, turns);
  }

  const metrics::Budgets& budgets(const metrics::Fact& fact) const { return budgets_.of(fact.id); }

  Options options_;
  std::string program_;
  FamilyBudgets budgets_;
  std::chrono::year_month_day today_;
  outcome::Requirements requirements_;
  outcome::RecordedRun recorded_;
  std::vector<metrics::Fact> measured_;  // facts of whole cases
  std::unique_ptr<CaseRunner> meter_;
  std::map<const Case*, std::optional<fuzz::Failure>> fuzzed_;
};

namespace {

/// In front of the names of tests that fuzz.
const std::string kFuzzed = "fuzz/";

/// The part of an id behind the family: GoogleTest puts the first point back in.
std::string test_name(const metrics::CaseId& id) {
  return fmt::format("{}.{}@{}", id.variant, id.type, id.size);
}

/// Measured, but not surely enough to be judged: listed, as by the gate.
bool is_estimate(const metrics::Fact& fact) { return fact.would.has_value(); }

bool is_missing(const metrics::Fact& fact) {
  return fact.verdict == metrics::Verdict::unmeasured && !fact.would;
}

std::string reason_of(const metrics::Fact& fact) { return fact.metric + ": " + fact.reason; }

/// Fails if none of the facts was held against a budget.
void require_judged(const std::vector<metrics::Fact>& facts) {
  outcome::Tally tally;
  for (const metrics::Fact& fact : facts) ++tally.verdicts[fact.verdict];
  if (tally.judged() == 0) FAIL() << "nothing was judged";
}

/// Ends a test that could not measure something: it fails where that was required.
void end_unmeasured(const Session& session, const std::string& why) {
  if (session.options().require_cupti) FAIL() << "unmeasured: " << why;
  GTEST_SKIP() << "unmeasured: " << why;
}

class RunTest : public testing::Test {
 public:
  RunTest(Session& session, const Case& tested) : session_(session), case_(tested) {}

  void TestBody() override {
    CaseRunner& meter = session_.meter();
    if (meter.broken()) {
      FAIL() << "not run: an earlier case left the device unusable to this process";
    }
    if (meter.device() && !exists_on(case_, meter.arch())) {
      GTEST_SKIP() << why_not_run(case_, meter.arch());
    }
    const metrics::Budgets& budgets = session_.budgets(case_);
    // A kernel ends at the limit, with its line; what still runs afterwards is not one.
    constexpr std::chrono::seconds kGrace{5};
    const auto measure = [&](const Case& tested) {
      const process::Watchdog watchdog(session_.options().time_limit + kGrace, tested.id.str());
      std::vector<metrics::Fact> facts = meter.run(tested, budgets);
      add_bounded_facts(tested, meter, budgets, &facts);
      return facts;
    };
    session_.add_ratios(case_, meter.arch(), "result.correct", measure);
    std::vector<metrics::Fact> facts = measure(case_);
    facts = session_.assert_within_budget(std::move(facts), case_.id.str());
    if (HasFailure()) return;
    for (const metrics::Fact& estimate : facts | std::views::filter(is_estimate)) {
      fmt::print("not judged: {}: {}\n", case_.id.str(), reason_of(estimate));
    }
    if (const auto missing = std::ranges::find_if(facts, is_missing); missing != facts.end()) {
      return end_unmeasured(session_, reason_of(*missing));
    }
    require_judged(facts);
  }

 private:
  /// Measures times and hardware counters if one of them has a budget: they take time.
  static void add_bounded_facts(const Case& tested, const CaseRunner& meter,
                                const metrics::Budgets& budgets,
                                std::vector<metrics::Fact>* facts) {
    if (!has_bounded_budget(tested, meter.arch(), budgets)) return;
    std::string reason = meter.no_counters();
    if (reason.empty() && facts->front().verdict != metrics::Verdict::error) {
      try {
        const auto counters = [&](const Case& tested) {
          return counters_of(tested, meter.arch(), budgets);
        };
        const std::vector<const Case*> cases = {&tested};
        std::ranges::move(
            CounterSession(cases, counters).facts(cases, meter.arch(), meter.device()->name),
            std::back_inserter(*facts));
        reason = "not available for this device or this case";
      } catch (const metrics::Unmeasured& unmeasured) {
        reason = unmeasured.what();
      }
    }
    std::ranges::move(missing_facts(*facts, metrics::Source::range, reason,
                                    {blank_fact(tested, meter.arch()), budgets}),
                      std::back_inserter(*facts));
  }

  Session& session_;
  const Case& case_;
};

class StaticTest : public testing::Test {
 public:
  StaticTest(Session& session, const Case& tested, std::string arch)
      : session_(session), case_(tested), arch_(std::move(arch)) {}

  void TestBody() override {
    const auto measure = [&](const Case& tested) {
      return static_facts(tested, launches_on(tested, arch_), arch_);
    };
    session_.add_ratios(case_, arch_, "registers", measure);
    const std::vector<metrics::Fact> facts =
        session_.assert_within_budget(measure(case_), arch_ + "/" + case_.id.str());
    if (const auto missing = std::ranges::find_if(facts, is_missing); missing != facts.end()) {
      FAIL() << "unmeasured: " << reason_of(*missing);
    }
    require_judged(facts);
  }

 private:
  Session& session_;
  const Case& case_;
  std::string arch_;
};

/// Says where a fuzzed case fails.
class FuzzTest : public testing::Test {
 public:
  FuzzTest(Session& session, const Case& tested) : session_(session), case_(tested) {}

  void TestBody() override {
    CaseRunner& meter = session_.meter();
    if (!meter.device()) {
      return end_unmeasured(session_,
                            fmt::format("{}; without a GPU, the program {}-emulated fuzzes it",
                                        meter.no_device(), session_.program()));
    }
    if (const std::string why = why_not_run(case_, meter.arch()); !why.empty()) {
      return end_unmeasured(session_, why);
    }
    if (const std::string refused = session_.why_not_fuzzed(case_); !refused.empty()) {
      FAIL() << refused;
    }
    const std::optional<fuzz::Failure>& failure = session_.fuzzed(case_);
    session_.assert_within_budget(
        {fuzz::fact_of(case_, meter.arch(), failure ? &*failure : nullptr)},
        kFuzzed + case_.id.str());
  }

 private:
  Session& session_;
  const Case& case_;
};

/// Fuzzes the cases of all tests that are to run, before the first of them uses a device.
class FuzzedRuns : public testing::Environment {
 public:
  explicit FuzzedRuns(Session& session) : session_(session) {}

  void SetUp() override {
    if (!is_emulated() && !process::has_gpu()) return;  // each test says so
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    Cases cases;
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
      const testing::TestSuite& suite = *all.GetTestSuite(i);
      const std::string_view name = suite.name();
      if (!name.starts_with(kFuzzed)) continue;
      for (int j = 0; j < suite.total_test_count(); ++j) {
        const testing::TestInfo& test = *suite.GetTestInfo(j);
        if (!test.should_run()) continue;
        cases.push_back(&Registry::instance().at(
            fmt::format("{}.{}", name.substr(kFuzzed.size()), test.name())));
      }
    }
    session_.fuzz(cases);
  }

 private:
  Session& session_;
};

}  // namespace

Tests::Tests(const Options& options, std::string program)
    : session_(std::make_unique<Session>(options, std::move(program))) {
  Session& session = *session_;
  const std::vector<const Case*> cases = Registry::instance().select({.large = options.large});
  for (const Case* const selected : cases) {
    const Case& tested = *selected;
    testing::RegisterTest(tested.id.family.c_str(), test_name(tested.id).c_str(), nullptr, nullptr,
                          tested.file.c_str(), tested.line,
                          [&]() -> testing::Test* { return new RunTest(session, tested); });
  }
  if (options.fuzz.any()) {
    for (const Case* const selected : fuzz::cases_to_fuzz(cases)) {
      const Case& tested = *selected;
      testing::RegisterTest((kFuzzed + tested.id.family).c_str(), test_name(tested.id).c_str(),
                            nullptr, nullptr, tested.file.c_str(), tested.line,
                            [&]() -> testing::Test* { return new FuzzTest(session, tested); });
    }
    testing::AddGlobalTestEnvironment(new FuzzedRuns(session));
  }
  for (const std::string& arch : built_archs()) {
    for (const Case* const selected : cases) {
      const Case& tested = *selected;
      if (!tested.counted || !exists_on(tested, arch)) continue;
      testing::RegisterTest(
          (arch + "/" + tested.id.family).c_str(), test_name(tested.id).c_str(), nullptr, nullptr,
          tested.file.c_str(), tested.line,
          [&, arch]() -> testing::Test* { return new StaticTest(session, tested, arch); });
    }
  }
}

Tests::~Tests() = default;

void Tests::end(outcome::ExitCode least) { session_->end(least); }

}  // namespace warpgauge::check
