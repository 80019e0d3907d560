// What a run as a whole comes to: tallies, order, exit codes.
#include "harness/outcome/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "metrics/budget.h"
#include "metrics/judge.h"

namespace warpgauge {
namespace {

using metrics::Fact;
using metrics::Verdict;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using enum metrics::Verdict;

constexpr Requirements kStrict = {.strict = true};
constexpr Requirements kPtxas = {.ptxas = true};
constexpr Requirements kCupti = {.cupti = true};
constexpr Requirements kEverything = {.strict = true, .ptxas = true, .cupti = true};

Fact fact(Verdict verdict, std::string metric = "registers", std::string variant = "tiled") {
  return {.id = {"transpose", std::move(variant), "f32", "64x64"},
          .metric = std::move(metric),
          .verdict = verdict};
}

Fact of_line(std::string metric) {
  Fact one = fact(unbudgeted, std::move(metric));
  one.scope = metrics::Scope::line;
  return one;
}

Fact because(Fact one, std::string reason) {
  one.reason = std::move(reason);
  return one;
}

Summary summary(const std::vector<Fact>& facts, std::vector<std::string> lost = {}) {
  std::vector<metrics::StoredFact> stored;
  for (const Fact& one : facts) stored.push_back({one, {}});
  return Summary(stored, std::move(lost));
}

/// One fact of `registers` (known without a run) for each verdict.
ExitCode code(const std::vector<Verdict>& verdicts, const Requirements& requirements = {}) {
  std::vector<Fact> facts;
  for (const Verdict verdict : verdicts) facts.push_back(fact(verdict));
  return summary(facts).exit_code(requirements);
}

TEST(Tally, CountsVerdictsByFamily) {
  Fact other = fact(fail);
  other.id.family = "reduce";
  const Summary both = summary({fact(pass), fact(pass, "registers", "padded"), fact(better),
                                fact(unbudgeted), fact(unmeasured), other});
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
  const Tally total = summary({fact(error), fact(waived)}).total();
  EXPECT_EQ(total.checks(), 2);
  EXPECT_EQ(total.judged(), 1);
}

TEST(Tally, LinesExplainAndAreNotCounted) {
  const Summary with_line = summary({fact(pass), of_line("shared.bank_conflicts")});
  EXPECT_EQ(with_line.total().checks(), 1);
  EXPECT_THAT(with_line.with({unbudgeted}), IsEmpty());
}

TEST(ExitCode, OfOneVerdict) {
  EXPECT_EQ(code({pass}), kWithinBudget);
  EXPECT_EQ(code({waived}), kWithinBudget);
  EXPECT_EQ(code({better}), kWithinBudget);
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
}

TEST(ExitCode, NothingJudgedIsAFault) {
  EXPECT_EQ(code({}), kFault);
  EXPECT_EQ(code({unbudgeted}), kFault);
  EXPECT_EQ(code({unmeasured}), kFault) << "nothing measured is never success";
  EXPECT_EQ(code({unmeasured, unbudgeted}), kFault);
  EXPECT_EQ(summary({of_line("shared.bank_conflicts")}).exit_code({}), kFault);
  for (const Requirements& requirements : {kStrict, kPtxas, kCupti, kEverything}) {
    EXPECT_EQ(code({}, requirements), kFault);
    EXPECT_EQ(code({unmeasured}, requirements), kFault);
  }
}

// A machine without a GPU: what the compiler says was judged, what needs a run was not measured.
TEST(ExitCode, UnmeasuredBesideSomethingJudgedPassesUnlessRequired) {
  const Summary no_gpu = summary({fact(pass), fact(unmeasured, "shared.bank_conflicts")});
  EXPECT_EQ(no_gpu.exit_code({}), kWithinBudget);
  EXPECT_EQ(no_gpu.exit_code(kStrict), kWithinBudget);
  EXPECT_EQ(no_gpu.exit_code(kPtxas), kWithinBudget);
  EXPECT_EQ(no_gpu.exit_code(kCupti), kNotMeasured);
  EXPECT_EQ(no_gpu.exit_code(kEverything), kNotMeasured);
}

TEST(ExitCode, WhatWasLostIsNotMeasured) {
  EXPECT_EQ(summary({fact(pass)}, {"a graph"}).exit_code({}), kNotMeasured);
  EXPECT_EQ(summary({fact(pass), fact(fail)}, {"a graph"}).exit_code({}), kOverBudget);
  EXPECT_EQ(summary({}, {"a graph"}).exit_code({}), kFault);
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
    const Summary one = summary({fact(pass, "instructions"), fact(unmeasured, metric)});
    EXPECT_EQ(one.exit_code(kCupti), run_time ? kNotMeasured : kWithinBudget) << metric;
    EXPECT_EQ(one.exit_code(kPtxas), run_time ? kWithinBudget : kNotMeasured) << metric;
    EXPECT_EQ(one.exit_code(kEverything), kNotMeasured) << metric;
  }
}

TEST(Summary, KnowsWhichFactsAreMissing) {
  const Summary two = summary({fact(unmeasured, "registers"), fact(unmeasured, "instructions")});
  EXPECT_THAT(two.missing({}), IsEmpty());
  EXPECT_THAT(two.missing(kPtxas), ElementsAre(testing::Field(&Fact::metric, "registers")));
  EXPECT_THAT(two.missing(kCupti), ElementsAre(testing::Field(&Fact::metric, "instructions")));
  EXPECT_EQ(two.missing(kEverything).size(), 2u);
}

TEST(Summary, FailuresOfOneCaseStayTogetherInTheirOrder) {
  const Summary mixed =
      summary({fact(fail, "registers", "tiled"), fact(error, "result.correct", "naive"),
               fact(pass, "registers", "padded"), fact(fail, "stack.bytes", "naive"),
               fact(fail, "instructions", "tiled")});
  std::vector<std::string> order;
  for (const Fact* one : mixed.with({error, fail})) {
    order.push_back(one->id.variant + " " + one->metric);
  }
  EXPECT_THAT(order, ElementsAre("naive result.correct", "naive stack.bytes", "tiled registers",
                                 "tiled instructions"));
}

TEST(Summary, CountsReasonsOfWhatIsUnmeasured) {
  const Summary missing =
      summary({because(fact(unmeasured), "no CUDA device"), because(fact(pass), "within budget"),
               because(fact(unmeasured, "instructions"), "no CUDA device"),
               because(fact(unmeasured, "stack.bytes"), "not compiled for sm_70")});
  EXPECT_THAT(missing.unmeasured_reasons(),
              ElementsAre(Pair("unmeasured: no CUDA device", 2),
                          Pair("unmeasured: not compiled for sm_70", 1)));
}

/// A count that is not sure, as the judge of a file without gate_on leaves it.
Fact unsure(std::string metric, double value, std::string confidence, std::string why) {
  Fact one = fact(unbudgeted, std::move(metric));
  one.value = value;
  one.confidence = std::move(confidence);
  one.confidence_reason = std::move(why);
  metrics::judge(one, metrics::Budgets(), {});
  return one;
}

TEST(Summary, GroupsWhatIsNotSureByWhy) {
  const Summary unclear =
      summary({unsure("shared.bank_conflicts", 31, "estimate", "ptxas spills registers here"),
               unsure("local.sectors", 0, "estimate", "ptxas spills registers here"),
               unsure("local.sectors", 8, "predicted", "no machine code"),
               because(fact(unmeasured), "no CUDA device")});
  EXPECT_THAT(unclear.unmeasured_reasons(),
              ElementsAre(Pair("only estimated: ptxas spills registers here", 2),
                          Pair("only predicted: no machine code", 1),
                          Pair("unmeasured: no CUDA device", 1)));
  std::vector<std::string> failing;
  for (const Fact* one : unclear.unsure_failures()) failing.push_back(one->metric);
  EXPECT_THAT(failing, ElementsAre("shared.bank_conflicts", "local.sectors"));
  EXPECT_EQ(unclear.total().judged(), 0);
  EXPECT_EQ(unclear.missing(kCupti).size(), 3u) << "an estimate is not what was asked for";
}

}  // namespace
}  // namespace warpgauge
