// Outcomes of whole runs: tallies, missing values, exit codes, headlines.
#include "harness/outcome/outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/outcome/recorded_run.h"
#include "metrics/budgets/budget.h"
#include "metrics/budgets/judge.h"
#include "tests/harness/outcome_facts.h"

namespace warpgauge::outcome::outcome_test {
namespace {

using metrics::Fact;
using metrics::StoredRun;
using metrics::Verdict;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::Pair;
using enum metrics::Verdict;

constexpr Requirements kStrict = {.strict = true};
constexpr Requirements kCubin = {.cubin = true};
constexpr Requirements kCupti = {.cupti = true};
constexpr Requirements kDevice = {.device = true};
constexpr Requirements kEverything = {.strict = true, .cubin = true, .cupti = true};

/// One fact of `registers` (known without a run) for each verdict.
ExitCode code(const std::vector<Verdict>& verdicts, const Requirements& requirements = {}) {
  std::vector<Fact> facts;
  int size = 0;
  for (const Verdict verdict : verdicts) {
    facts.push_back(on(fact(verdict), "sm_90", std::to_string(++size)));
  }
  return outcome_of(facts, requirements).exit_code();
}

TEST(Tally, CountsVerdictsByFamily) {
  Fact other = fact(fail);
  other.id.family = "reduce";
  const Outcome both =
      outcome_of({fact(pass), fact(pass, "registers", "padded"), fact(better, "instructions"),
                  fact(unbudgeted, "stack.bytes"), fact(unmeasured, "local.sectors"), other});
  ASSERT_EQ(both.families().size(), 2u);
  const Tally& transpose = both.families().at("transpose");
  EXPECT_THAT(transpose.cases,
              ElementsAre("transpose.padded.f32@64x64", "transpose.tiled.f32@64x64"));
  EXPECT_THAT(transpose.verdicts, ElementsAre(Pair(pass, 2), Pair(better, 1), Pair(unmeasured, 1),
                                              Pair(unbudgeted, 1)));
  EXPECT_EQ(transpose.checks(), 4) << "without the one that has no budget";
  EXPECT_EQ(transpose.judged(), 3) << "and without the one that was not measured";
  EXPECT_EQ(both.total().cases.size(), 3u);
  EXPECT_EQ(both.total().checks(), 5);
}

TEST(Tally, AnErrorIsACheckThatWasNotJudged) {
  const Outcome outcome = outcome_of({fact(error, "result.correct"), fact(waived)});
  EXPECT_EQ(outcome.total().checks(), 2);
  EXPECT_EQ(outcome.total().judged(), 1);
}

TEST(Tally, LinesExplainAndAreNotCounted) {
  const Fact whole = fact(pass, "shared.bank_conflicts");
  const Outcome with_line = outcome_of({whole, of_line(whole, 7, 31)});
  EXPECT_EQ(with_line.total().checks(), 1);
  EXPECT_EQ(with_line.total().count(unbudgeted), 0);
  EXPECT_EQ(with_line.values().size(), 1u);
}

TEST(ExitCode, OfOneVerdict) {
  EXPECT_EQ(code({pass}), kWithinBudget);
  EXPECT_EQ(code({waived}), kWithinBudget);
  EXPECT_EQ(code({better}), kWithinBudget);
  EXPECT_EQ(code({moved}), kWithinBudget);
  EXPECT_EQ(code({fail}), kOverBudget);
  EXPECT_EQ(code({error}), kFault);
}

TEST(ExitCode, TheWorstDecidesWhateverTheOrder) {
  EXPECT_EQ(code({pass, fail}), kOverBudget);
  EXPECT_EQ(code({fail, pass, better, waived, unbudgeted}), kOverBudget);
  EXPECT_EQ(code({pass, fail, error}), kFault);
  EXPECT_EQ(code({error, fail, pass}), kFault);
  EXPECT_EQ(code({error, unmeasured, fail}, kEverything), kFault);
  EXPECT_EQ(code({unmeasured, fail, pass}, kEverything), kOverBudget);
  EXPECT_EQ(code({unmeasured, better}, kEverything), kOverBudget);
  EXPECT_EQ(code({unmeasured, pass}, kEverything), kNotMeasured);
}

TEST(ExitCode, BetterFailsOnlyWhenStrict) {
  EXPECT_EQ(code({better, pass}), kWithinBudget);
  EXPECT_EQ(code({better, pass}, kStrict), kOverBudget);
  EXPECT_EQ(code({waived, pass}, kStrict), kWithinBudget);
  EXPECT_EQ(code({moved, pass}, kStrict), kWithinBudget);
}

TEST(ExitCode, EstimatesThatOnlyBuiltInLimitsJudgePassWhereCountsAreRequired) {
  constexpr Requirements kCounts = {.counts = true};
  Fact estimate = fact(unmeasured, "local.sectors");
  estimate.confidence = "estimate";
  estimate.value = 4.0;
  estimate.limit = metrics::Limit{.origin = std::string(metrics::kBuiltInOrigin)};
  Fact of_a_budget = estimate;
  of_a_budget.limit->origin = "budgets.toml:3";
  Fact missing = estimate;
  missing.value = {};
  const Fact judged = fact(pass);
  EXPECT_EQ(outcome_of({estimate, judged}, kCounts).exit_code(), kWithinBudget);
  EXPECT_EQ(outcome_of({estimate, judged}, kCupti).exit_code(), kNotMeasured);
  EXPECT_EQ(outcome_of({of_a_budget, judged}, kCounts).exit_code(), kNotMeasured);
  EXPECT_EQ(outcome_of({missing, judged}, kCounts).exit_code(), kNotMeasured);
  EXPECT_EQ(outcome_of({missing}, kCounts).exit_code(), kNotMeasured);
  const Outcome alone = outcome_of({estimate}, kCounts);
  EXPECT_EQ(alone.exit_code(), kWithinBudget);
  EXPECT_EQ(alone.headline(), "UNSURE: 1 value only estimated");
  EXPECT_EQ(outcome_of({estimate}).exit_code(), kFault) << "a gate has something to judge";
}

TEST(ExitCode, NothingJudgedIsAFault) {
  EXPECT_EQ(code({}), kFault);
  EXPECT_EQ(code({unbudgeted}), kFault);
  EXPECT_EQ(code({unmeasured}), kFault) << "nothing measured is never success";
  EXPECT_EQ(code({unmeasured, unbudgeted}), kFault);
  EXPECT_EQ(outcome_of({of_line(fact(pass), 7, 1)}).exit_code(), kFault);
  for (const Requirements& requirements : {kStrict, kCubin, kCupti, kEverything}) {
    EXPECT_EQ(code({}, requirements), kFault);
    EXPECT_EQ(code({unbudgeted}, requirements), kFault);
  }
  EXPECT_EQ(code({unmeasured}, kStrict), kFault);
  EXPECT_EQ(code({unbudgeted}, {.judged = false}), kWithinBudget) << "times alone need no budget";
}

// A machine without a GPU: compile-time values were judged, and the others not measured.
TEST(ExitCode, UnmeasuredBesideSomethingJudgedPassesUnlessRequired) {
  const std::vector<Fact> no_gpu = {fact(pass), fact(unmeasured, "shared.bank_conflicts")};
  EXPECT_EQ(outcome_of(no_gpu).exit_code(), kWithinBudget);
  EXPECT_EQ(outcome_of(no_gpu, kStrict).exit_code(), kWithinBudget);
  EXPECT_EQ(outcome_of(no_gpu, kCubin).exit_code(), kWithinBudget);
  EXPECT_EQ(outcome_of(no_gpu, kCupti).exit_code(), kNotMeasured);
  EXPECT_EQ(outcome_of(no_gpu, kEverything).exit_code(), kNotMeasured);
}

TEST(ExitCode, FuzzedRunsThatWereAskedForAreRequired) {
  const Fact fuzzed = fact(unmeasured, "result.fails_at");
  EXPECT_EQ(outcome_of({fact(pass), fuzzed}).exit_code(), kNotMeasured);
}

TEST(ExitCode, WhatWasLostIsNotMeasured) {
  EXPECT_EQ(outcome_of({fact(pass)}, {}, {"a graph"}).exit_code(), kNotMeasured);
  EXPECT_EQ(outcome_of({fact(fail)}, {}, {"a graph"}).exit_code(), kOverBudget);
  EXPECT_EQ(outcome_of({}, {}, {"a graph"}).exit_code(), kFault);
}

TEST(ExitCode, EachRequirementAsksForItsOwnMetrics) {
  struct {
    const char* metric;
    bool run_time;
  } const rows[] = {{"registers", false},          {"spill.store_bytes", false},
                    {"occupancy.limiter", false},  {"occupancy.theoretical", false},
                    {"result.correct", true},      {"shared.bank_conflicts", true},
                    {"occupancy.achieved", true},  {"time.median_us", true},
                    {"global.load.sectors", true}, {"dram.bytes", true}};
  for (const auto& [metric, run_time] : rows) {
    const std::vector<Fact> facts = {fact(pass, "instructions"), fact(unmeasured, metric)};
    EXPECT_EQ(outcome_of(facts, kCupti).exit_code(), run_time ? kNotMeasured : kWithinBudget)
        << metric;
    EXPECT_EQ(outcome_of(facts, kCubin).exit_code(), run_time ? kWithinBudget : kNotMeasured)
        << metric;
    EXPECT_EQ(outcome_of(facts, kEverything).exit_code(), kNotMeasured) << metric;
    EXPECT_EQ(outcome_of(facts, kDevice).exit_code() == kNotMeasured,
              std::string(metric) == "result.correct");
  }
}

TEST(Outcome, CountsWhatIsRequiredAndMissing) {
  const std::vector<Fact> two = {fact(unmeasured, "registers"), fact(unmeasured, "instructions")};
  EXPECT_EQ(outcome_of(two).required_missing(), 0);
  EXPECT_EQ(outcome_of(two, kCubin).required_missing(), 1);
  EXPECT_EQ(outcome_of(two, kCupti).required_missing(), 1);
  EXPECT_EQ(outcome_of(two, kEverything).required_missing(), 2);
}

testing::Matcher<const Unmeasured&> Reason(std::string text, int count, int required) {
  return AllOf(Field(&Unmeasured::reason, text), Field(&Unmeasured::count, count),
               Field(&Unmeasured::required, required));
}

TEST(Outcome, CountsReasonsOfWhatIsUnmeasured) {
  const Outcome missing = outcome_of(
      {because(fact(unmeasured, "stack.bytes"), "not compiled for sm_70"),
       because(fact(unmeasured), "no CUDA device"), because(fact(pass, "constant.bytes"), "x"),
       because(fact(unmeasured, "instructions"), "no CUDA device")},
      kCupti);
  EXPECT_THAT(missing.unmeasured(),
              ElementsAre(Reason("unmeasured: no CUDA device", 2, 1),
                          Reason("unmeasured: not compiled for sm_70", 1, 0)));
}

/// A count that is not sure, as the judge of a file without gate_on leaves it.
Fact unsure(std::string metric, double value, std::string confidence, std::string why) {
  Fact estimate = fact(unbudgeted, std::move(metric));
  estimate.id.variant = why.substr(0, 1);
  estimate.value = value;
  estimate.confidence = std::move(confidence);
  estimate.confidence_reason = std::move(why);
  metrics::judge(estimate, metrics::Budgets(), {});
  return estimate;
}

TEST(Outcome, GroupsWhatIsNotSureByWhy) {
  const std::vector<Fact> facts = {
      unsure("shared.bank_conflicts", 31, "estimate", "ptxas spills registers here"),
      unsure("local.sectors", 0, "estimate", "ptxas spills registers here"),
      unsure("local.sectors", 8, "predicted", "no machine code"),
      because(fact(unmeasured), "no CUDA device")};
  const Outcome unclear = outcome_of(facts);
  EXPECT_THAT(unclear.unmeasured(),
              ElementsAre(Reason("only estimated: ptxas spills registers here", 2, 0),
                          Reason("only predicted: no machine code", 1, 0),
                          Reason("unmeasured: no CUDA device", 1, 0)));
  EXPECT_EQ(unclear.total().judged(), 0);
  EXPECT_EQ(outcome_of(facts, kCupti).required_missing(), 3) << "an estimate was not asked for";
}

Outcome of_runs(std::vector<StoredRun> runs, OutcomeOptions options = {}) {
  return Outcome(std::move(runs), std::move(options));
}

TEST(Outcome, OfSeveralRunsTheWorstValueCounts) {
  const Outcome two =
      of_runs({run_of({fact(pass), beyond(9, 8, "instructions")}, "r1"),
               run_of({beyond(33, 32), fact(unmeasured, "instructions"), fact(pass, "stack.bytes")},
                      "r2")});
  EXPECT_EQ(two.total().count(fail), 2);
  EXPECT_EQ(two.total().checks(), 3) << "each metric of a case once";
  EXPECT_EQ(two.values().at(0).run->id, "r2");
  EXPECT_EQ(two.values().at(1).run->id, "r1");
}

TEST(Outcome, ARunThatWasCutOffIsAFault) {
  StoredRun cut = run_of({fact(pass)});
  cut.end.reset();
  const Outcome outcome = of_runs({cut});
  EXPECT_EQ(outcome.exit_code(), kFault);
  EXPECT_EQ(outcome.headline(), "ERROR: a run was cut off");
  EXPECT_THAT(outcome.lost(), ElementsAre("run r1 was cut off: its end is missing"));
  EXPECT_EQ(of_runs({cut}, {.whole = false}).exit_code(), kWithinBudget) << "it is still going on";
}

TEST(Outcome, IsNeverBetterThanTheExitCodesOfItsRuns) {
  StoredRun run = run_of({fact(pass)});
  run.end->exit_code = kOverBudget;
  run.end->left_out = {"2 cases of --large"};
  const Outcome outcome = of_runs({run});
  EXPECT_EQ(outcome.exit_code(), kOverBudget);
  EXPECT_EQ(outcome.headline(), "FAIL: a run ended with exit code 1; see its output");
  EXPECT_THAT(outcome.options().left_out, ElementsAre("2 cases of --large"));
}

TEST(RecordedRun, EndsInItsFileAndInItsResultsAsItsProgramDoes) {
  const std::filesystem::path folder = testing::TempDir();
  const auto facts = folder / "warpgauge_recorded.jsonl", results = folder / "warpgauge_results";
  std::filesystem::remove(facts);
  RecordedRun recorded(run_of({}).run, facts);
  recorded.add({counted("registers", 20, pass)});
  const auto outcome = recorded.end({}, results, kOverBudget);
  EXPECT_EQ(outcome->exit_code(), kOverBudget);
  std::ifstream stream(results);
  EXPECT_EQ(nlohmann::json::parse(stream)["headline"],
            "FAIL: a run ended with exit code 1; see its output");
  const Outcome read(metrics::read_facts(facts), {});
  EXPECT_EQ(read.exit_code(), kOverBudget);
  EXPECT_EQ(read.headline(), outcome->headline());
  std::filesystem::remove(facts);
  std::filesystem::remove(results);
}

TEST(RecordedRun, ThatKeepsWhatIsJudgedHasTheOutcomeOfItsFile) {
  const auto facts = std::filesystem::path(testing::TempDir()) / "warpgauge_kept.jsonl";
  std::filesystem::remove(facts);
  metrics::Fact line = fact(unbudgeted);
  line.scope = metrics::Scope::line;
  RecordedRun recorded(run_of({}).run, facts, Kept::judged);
  recorded.add({on(beyond(64, 32), "sm_80"), on(line, "sm_80")});
  recorded.add({on(fact(unbudgeted), "sm_90"), on(line, "sm_90")});
  const auto outcome = recorded.end({}, "");
  EXPECT_EQ(outcome->runs().at(0).facts.size(), 2);
  const Outcome read(metrics::read_facts(facts), {});
  EXPECT_EQ(read.runs().at(0).facts.size(), 4);
  EXPECT_EQ(outcome->total().verdicts, read.total().verdicts);
  EXPECT_EQ(outcome->families().begin()->second.count(unbudgeted), 1);
  EXPECT_EQ(outcome->headline(), read.headline());
  std::filesystem::remove(facts);
}

TEST(RecordedRun, OfValuesThatAreWorseEndsAsTheyDo) {
  RecordedRun recorded(run_of({}).run, "");
  recorded.add({fact(error)});
  const auto outcome = recorded.end({}, "", kOverBudget);
  EXPECT_EQ(outcome->exit_code(), kFault);
  EXPECT_EQ(outcome->headline(), "ERROR: 1 case could not be judged");
}

TEST(Requirements, OfRunsAreWhatTheyWereAskedFor) {
  StoredRun gate = run_of({});
  gate.run.command = "gate";
  gate.run.asked = {.device = "gpu", .require = {"cupti"}, .strict = true};
  StoredRun times = run_of({}, "r2");
  times.run.command = "bench";
  times.run.asked = {.device = "auto", .require = {"cubin"}};
  const Requirements both = requirements_of({gate, times});
  EXPECT_TRUE(both.strict && both.cubin && both.cupti && both.device && both.judged);
  const Requirements of_times = requirements_of({times});
  EXPECT_TRUE(of_times.cubin);
  EXPECT_FALSE(of_times.strict || of_times.cupti || of_times.device || of_times.judged);
  EXPECT_TRUE(requirements_of({}).judged) << "of nothing, nothing was judged";
}

TEST(ExitCode, WhatIsRequiredAndNotMeasuredIsMissingAlsoWhereNothingElseIs) {
  const std::vector<Fact> facts = {fact(unmeasured, "spill.load_bytes")};
  EXPECT_EQ(outcome_of(facts).exit_code(), kFault);
  EXPECT_EQ(outcome_of(facts, kCupti).exit_code(), kFault) << "not of what is required";
  EXPECT_EQ(outcome_of(facts, kCubin).exit_code(), kNotMeasured);
  EXPECT_EQ(outcome_of(facts, kEverything).exit_code(), kNotMeasured);
}

TEST(Headline, SaysWhatDecided) {
  EXPECT_EQ(outcome_of({}).headline(), "ERROR: nothing was judged: there are no values");
  EXPECT_EQ(outcome_of({fact(pass)}).headline(), "PASS: 1 value within budget");
  const std::vector<Fact> facts = {fact(pass), fact(better, "instructions"),
                                   fact(moved, "time.median_us"), fact(unmeasured, "stack.bytes")};
  EXPECT_EQ(outcome_of(facts).headline(), "PASS: 2 values within budget, 1 moved, 1 unmeasured");
  EXPECT_EQ(outcome_of(facts, kStrict).headline(), "FAIL: 1 value better than budget (--strict)");
  EXPECT_EQ(outcome_of({fact(fail), fact(better, "instructions")}, kStrict).headline(),
            "FAIL: 1 value over budget");
  const Fact second = fact(unmeasured, "spill.load_bytes");
  Fact first = fact(unmeasured, "stack.bytes");
  first.reason = "no counter";
  EXPECT_EQ(outcome_of({fact(pass), first}, kCubin).headline(),
            "NOT MEASURED: stack.bytes of transpose.tiled.f32@64x64, unmeasured: no counter");
  EXPECT_EQ(outcome_of({fact(pass), first, second}, kCubin).headline(),
            "NOT MEASURED: stack.bytes of transpose.tiled.f32@64x64, unmeasured: no counter; "
            "and 1 value more");
}

TEST(Headline, CountsCasesInErrorNotFacts) {
  EXPECT_EQ(outcome_of({fact(error, "result.correct"), fact(error)}).headline(),
            "ERROR: 1 case could not be judged");
}

TEST(Headline, SaysWhyNothingWasJudgedAndWhatToDo) {
  EXPECT_THAT(outcome_of({fact(unbudgeted)}).headline(),
              testing::HasSubstr("no value has a budget; write one, or let `warpgauge accept"));
  Fact of_test = fact(unbudgeted);
  auto context = *of_test.context;
  context.kind = metrics::CaseKind::measured;
  of_test.context = std::make_shared<const metrics::CaseContext>(context);
  EXPECT_THAT(outcome_of({of_test}).headline(),
              testing::HasSubstr("no value has a budget; hold launches to one with EXPECT_BUDGET"));
  Fact missing = fact(unmeasured, "stack.bytes");
  missing.reason = "no counter";
  EXPECT_EQ(outcome_of({missing}).headline(),
            "ERROR: nothing was judged: stack.bytes of transpose.tiled.f32@64x64, unmeasured: no "
            "counter");
}

Fact found(std::string rule, int line, std::string variant = "tiled") {
  Fact finding = fact(error, "result.correct");
  finding.id.variant = std::move(variant);
  finding.rule = std::move(rule);
  finding.file = "a.cu";
  finding.line = line;
  return finding;
}

TEST(Headline, CountsTheFindingsOfChecksByKind) {
  const std::vector<Fact> races = {found("race", 1), found("race", 2), found("race", 2, "padded")};
  EXPECT_EQ(outcome_of(races).headline(), "ERROR: 3 races found");
  EXPECT_EQ(outcome_of(races).findings().size(), 3) << "each is listed";
  EXPECT_EQ(outcome_of(races).exit_code(), kFault);
  EXPECT_EQ(outcome_of({found("uninitialised", 1), found("race", 1), fact(fail)}).headline(),
            "ERROR: 1 race, 1 read of uninitialised memory found, 1 value over budget");
  EXPECT_EQ(outcome_of({found("unfenced source", 1), found("wrong bytes", 2)}).headline(),
            "ERROR: 2 mistakes with asynchronous copies found");
  EXPECT_EQ(outcome_of({found("shuffle", 1), found("", 2, "naive")}).headline(),
            "ERROR: 1 shuffle from an absent lane found, 1 case could not be judged");
}

TEST(Headline, CountsPairsOfLines) {
  Fact first = found("race", 1), second = first;
  first.other = "a.cu:5";
  second.other = "a.cu:6";
  EXPECT_EQ(outcome_of({first, second}).headline(), "ERROR: 2 races found");
  EXPECT_EQ(outcome_of({first, second}).findings().size(), 2) << "each is listed";
}

TEST(Headline, CountsCasesOfARuleThatIsNotKnown) {
  EXPECT_EQ(outcome_of({found("race", 1), found("unheard of", 2, "naive")}).headline(),
            "ERROR: 1 race found, 1 case could not be judged");
}

TEST(Outcome, OfWaivedFindingsAloneIsNothingJudged) {
  Fact known = found("race", 1);
  known.verdict = waived;
  EXPECT_EQ(outcome_of({known}).exit_code(), kFault);
  EXPECT_EQ(outcome_of({known, fact(pass)}).exit_code(), kWithinBudget);
  EXPECT_EQ(outcome_of({known, fact(pass)}).headline(), "PASS: 1 value within budget");
  EXPECT_EQ(outcome_of({known, fact(pass)}).total().count(waived), 1);
}

TEST(Headline, CountsAFindingOfSeveralSizesOnce) {
  Fact larger = found("race", 1);
  larger.id.size = "128x128";
  EXPECT_EQ(outcome_of({found("race", 1), larger}).headline(), "ERROR: 1 race found");
}

TEST(Headline, SaysWhatWasLost) {
  EXPECT_EQ(outcome_of({fact(pass)}, {}, {"a graph of\nanother library"}).headline(),
            "NOT MEASURED: a graph of another library");
  EXPECT_EQ(outcome_of({fact(pass)}, {}, {"a graph", "a launch"}).headline(),
            "NOT MEASURED: 2 items, see above");
}

}  // namespace
}  // namespace warpgauge::outcome::outcome_test
