// The judge, rule by rule.
#include "metrics/budgets/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "metrics/facts/confidence.h"

namespace warpgauge::metrics::judge_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

constexpr std::chrono::year_month_day kToday = 2026y / 5 / 1;
const std::vector<CaseId> kCases = {{"transpose", "tiled", "f32", "64x64"}};

Fact fact(std::string metric, Value value) {
  return {.id = kCases.front(),
          .arch = "sm_90",
          .metric = std::move(metric),
          .value = std::move(value)};
}

/// The fact as judged by a budget file of one line; without a line by the built-in defaults.
Fact judged(Fact fact, const std::string& line = "", std::chrono::year_month_day today = kToday) {
  judge(fact, Budgets::parse("[default]\n" + line, "budgets.toml", kCases), today);
  return fact;
}

std::string budget_of(const Fact& fact) { return fact.limit ? fact.limit->str() : ""; }

Verdict verdict(std::string metric, Value value, const std::string& line) {
  return judged(fact(std::move(metric), std::move(value)), line).verdict;
}

TEST(Judge, AtMostWhereLowerIsBetter) {
  EXPECT_EQ(verdict("registers", 32.0, "registers = 32"), Verdict::pass);
  EXPECT_EQ(verdict("registers", 33.0, "registers = 32"), Verdict::fail);
  EXPECT_EQ(verdict("registers", 31.0, "registers = 32"), Verdict::better);
  EXPECT_EQ(verdict("registers", 31.0, "registers = { max = 32 }"), Verdict::better);
  EXPECT_EQ(verdict("registers", 0.0, "registers = 0"), Verdict::pass);
}

TEST(Judge, AtLeastWhereHigherIsBetter) {
  const std::string line = "\"occupancy.theoretical\" = 0.5";
  EXPECT_EQ(verdict("occupancy.theoretical", 0.5, line), Verdict::pass);
  EXPECT_EQ(verdict("occupancy.theoretical", 0.49, line), Verdict::fail);
  EXPECT_EQ(verdict("occupancy.theoretical", 0.75, line), Verdict::better);
  EXPECT_EQ(verdict("occupancy.theoretical", 0.0, line), Verdict::fail);
}

TEST(Judge, EqualFollowsTheDirection) {
  EXPECT_EQ(verdict("registers", 32.0, "registers = { equal = 32 }"), Verdict::pass);
  EXPECT_EQ(verdict("registers", 31.0, "registers = { equal = 32 }"), Verdict::better);
  EXPECT_EQ(verdict("registers", 33.0, "registers = { equal = 32 }"), Verdict::fail);
  const std::string higher = "\"occupancy.theoretical\" = { equal = 0.5 }";
  EXPECT_EQ(verdict("occupancy.theoretical", 0.75, higher), Verdict::better);
  EXPECT_EQ(verdict("occupancy.theoretical", 0.25, higher), Verdict::fail);
  const std::string none = "\"shared.wavefronts_ideal\" = 64";
  EXPECT_EQ(verdict("shared.wavefronts_ideal", 64.0, none), Verdict::pass);
  EXPECT_EQ(verdict("shared.wavefronts_ideal", 63.0, none), Verdict::fail);
  EXPECT_EQ(verdict("shared.wavefronts_ideal", 65.0, none), Verdict::fail);
}

TEST(Judge, BetweenMinAndMaxEverythingPasses) {
  const std::string line = "registers = { min = 16, max = 32 }";
  for (const double value : {16.0, 20.0, 32.0}) {
    EXPECT_EQ(verdict("registers", value, line), Verdict::pass);
  }
  EXPECT_EQ(verdict("registers", 15.0, line), Verdict::fail);
  EXPECT_EQ(verdict("registers", 33.0, line), Verdict::fail);
}

TEST(Judge, ABoundAgainstTheDirectionIsNeverBetter) {
  EXPECT_EQ(verdict("registers", 20.0, "registers = { min = 16 }"), Verdict::pass);
  EXPECT_EQ(verdict("registers", 15.0, "registers = { min = 16 }"), Verdict::fail);
  EXPECT_EQ(verdict("occupancy.theoretical", 0.5, "\"occupancy.theoretical\" = { max = 0.75 }"),
            Verdict::pass);
}

TEST(Judge, ToleranceReachesToBothSides) {
  const std::string line = "\"time.median_us\" = { max = 100, tolerance = \"29%\" }";
  EXPECT_EQ(verdict("time.median_us", 129.0, line), Verdict::pass);
  EXPECT_EQ(verdict("time.median_us", 129.01, line), Verdict::fail);
  EXPECT_EQ(verdict("time.median_us", 71.0, line), Verdict::pass);
  EXPECT_EQ(verdict("time.median_us", 70.99, line), Verdict::better);
  const std::string higher = "\"l2.hit_percent\" = { min = 50, tolerance = 0.1 }";
  EXPECT_EQ(verdict("l2.hit_percent", 45.0, higher), Verdict::pass);
  EXPECT_EQ(verdict("l2.hit_percent", 44.9, higher), Verdict::fail);
  EXPECT_EQ(verdict("l2.hit_percent", 55.1, higher), Verdict::better);
}

TEST(Judge, AnIntervalMustBeBeyondTheLimitAsAWhole) {
  const std::string line = "\"time.median_us\" = { max = 100, tolerance = \"10%\" }";
  const auto with_interval = [&](double value, double low, double high) {
    Fact time = fact("time.median_us", value);
    time.interval = Interval{low, high};
    return judged(time, line).verdict;
  };
  EXPECT_EQ(with_interval(115, 111, 120), Verdict::fail);
  EXPECT_EQ(with_interval(115, 109, 120), Verdict::unmeasured);
  EXPECT_EQ(with_interval(105, 100, 130), Verdict::pass);
  EXPECT_EQ(with_interval(80, 70, 89), Verdict::better);
  EXPECT_EQ(with_interval(80, 70, 91), Verdict::pass);
}

TEST(Judge, ANoisyTimeBeyondItsLimitSaysThatItMayFail) {
  Fact time = fact("time.median_us", 200.0);
  time.interval = Interval{105, 300};
  time = judged(time, "\"time.median_us\" = { max = 100, tolerance = \"10%\" }");
  EXPECT_EQ(time.verdict, Verdict::unmeasured);
  EXPECT_EQ(time.reason,
            "time.median_us is 200 (95 % interval 105 to 300), which budget <= 100 ± 10% would "
            "fail; time it again, for longer or on an idle machine");
  EXPECT_EQ(time.would, Verdict::fail);
}

TEST(Judge, FasterThanTheYardstickIsNoFault) {
  const std::string line = "\"time.relative_to\" = { min = 0.6, tolerance = 0.1 }";
  EXPECT_EQ(verdict("time.relative_to", 6.5, line), Verdict::better);
  EXPECT_EQ(verdict("throughput.percent_of_peak", 140.0, ""), Verdict::unbudgeted);  // from a cache
}

TEST(Judge, TheSameCodeMovesWithTheMachine) {
  const std::string line = "\"time.median_us\" = { max = 100, tolerance = \"10%\", code = \"aa\" }";
  Fact time = fact("time.median_us", 200.0);
  const auto of_code = [](std::string hash) {
    return std::make_shared<const CaseContext>(CaseContext{.code_hash = std::move(hash)});
  };
  time.context = of_code("aa");
  EXPECT_EQ(judged(time, line).verdict, Verdict::moved);
  EXPECT_EQ(judged(time, line).cause, "environment");
  EXPECT_EQ(judged(time, line).reason,
            "time.median_us is 200, budget <= 100 ± 10%; machine code and launches are those of "
            "the budget: clocks, driver or load have changed");
  time.context = of_code("bb");
  EXPECT_EQ(judged(time, line).verdict, Verdict::fail);
  EXPECT_EQ(judged(time, line).cause, "");
  EXPECT_THAT(judged(time, line).reason,
              HasSubstr("; machine code or launches are not those of the budget (aa, now bb)"));
  time.context = no_context();  // not known: no excuse
  EXPECT_EQ(judged(time, line).verdict, Verdict::fail);
  time.context = of_code("aa");
  time.value = 50.0;
  EXPECT_EQ(judged(time, line).verdict, Verdict::better);
}

TEST(Judge, ACauseIsNamedOnlyWhereBothCodesAreKnown) {
  const auto cause = [](const std::string& budget, std::string hash) {
    Fact time = fact("time.median_us", 200.0);
    time.context = std::make_shared<const CaseContext>(CaseContext{.code_hash = std::move(hash)});
    time = judged(time, "\"time.median_us\" = { max = 100, tolerance = \"10%\"" + budget + " }");
    EXPECT_EQ(time.verdict, Verdict::fail);
    return time.reason;
  };
  const auto names_a_cause = HasSubstr("machine code");
  EXPECT_THAT(cause(", code = \"aa\"", "bb"), names_a_cause);
  EXPECT_THAT(cause(", code = \"aa\"", ""), Not(names_a_cause));
  EXPECT_THAT(cause("", "bb"), Not(names_a_cause));
}

TEST(Judge, ADisturbedTimeSaysSo) {
  Fact time = fact("time.median_us", 100.0);
  time.machine = MachineState{.disturbance = "2 other processes use the GPU"};
  const auto reason = [&](const char* limit) {
    return judged(time, std::string("\"time.median_us\" = ") + limit).reason;
  };
  EXPECT_EQ(reason("{ max = 100, tolerance = 0.1 }"), "disturbed: 2 other processes use the GPU");
  EXPECT_EQ(reason("{ max = 10, tolerance = 0.1 }"),
            "time.median_us is 100, budget <= 10 ± 10%; disturbed: 2 other processes use the GPU");
}

TEST(Judge, WordsAreEqualOrFail) {
  const std::string line = "\"occupancy.limiter\" = \"registers\"";
  EXPECT_EQ(verdict("occupancy.limiter", "registers", line), Verdict::pass);
  EXPECT_EQ(verdict("occupancy.limiter", "shared", line), Verdict::fail);
  EXPECT_EQ(judged(fact("occupancy.limiter", "shared"), line).reason,
            "occupancy.limiter is shared, budget = registers");
}

TEST(Judge, BuiltInDefaultsGateWithoutABudget) {
  const Fact conflicts = judged(fact("shared.bank_conflicts", 31744.0));
  EXPECT_EQ(conflicts.verdict, Verdict::fail);
  EXPECT_EQ(conflicts.reason, "shared.bank_conflicts is 31744, budget = 0");
  ASSERT_TRUE(conflicts.limit);
  EXPECT_EQ(conflicts.limit->origin, kBuiltInOrigin);
  EXPECT_EQ(conflicts.limit->text(), "= 0 (built-in default: a kernel has no bank conflicts)");
  EXPECT_EQ(judged(fact("shared.bank_conflicts", 0.0)).verdict, Verdict::pass);
  EXPECT_EQ(judged(fact("result.correct", 1.0)).verdict, Verdict::pass);
  EXPECT_EQ(judged(fact("result.correct", 0.0)).verdict, Verdict::fail);
}

TEST(Judge, UnbudgetedWithoutALimit) {
  const Fact registers = judged(fact("registers", 40.0));
  EXPECT_EQ(registers.verdict, Verdict::unbudgeted);
  EXPECT_FALSE(registers.limit);
  EXPECT_EQ(registers.reason, "") << "its other members say it all";
}

TEST(Judge, NothingIsUnmeasuredWithAndWithoutALimit) {
  Fact conflicts = fact("shared.bank_conflicts", {});
  conflicts.reason = "no CUDA device";
  conflicts = judged(conflicts);
  EXPECT_EQ(conflicts.verdict, Verdict::unmeasured);
  EXPECT_EQ(conflicts.reason, "no CUDA device");
  EXPECT_EQ(budget_of(conflicts), "= 0");
  EXPECT_FALSE(conflicts.would) << "nothing is known";
  EXPECT_EQ(judged(fact("registers", {})).verdict, Verdict::unmeasured);
  EXPECT_EQ(judged(fact("registers", {})).reason, "registers was not measured");
}

TEST(Judge, MoreThanAllIsAnErrorBeyondTheNoiseOfItsMeasurement) {
  EXPECT_EQ(verdict("occupancy.achieved", 1.04, ""), Verdict::unbudgeted);
  EXPECT_EQ(verdict("occupancy.achieved", 1.06, ""), Verdict::error);
  EXPECT_EQ(verdict("dram.percent_of_peak", 104.0, ""), Verdict::unbudgeted);
  EXPECT_EQ(verdict("dram.percent_of_peak", 106.0, ""), Verdict::error);
  EXPECT_EQ(verdict("occupancy.theoretical", 1.0, ""), Verdict::unbudgeted);
  EXPECT_EQ(verdict("occupancy.theoretical", 1.01, ""), Verdict::error) << "exact: no noise";
}

TEST(Judge, WhatCannotBeIsAnError) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::string bounded = "\"time.median_us\" = { max = 9, tolerance = 0.1 }";
  for (const double value : {kNan, kInfinity, -kInfinity, -1.0}) {
    EXPECT_EQ(verdict("registers", value, "registers = 32"), Verdict::error) << value;
    EXPECT_EQ(verdict("registers", value, ""), Verdict::error) << value;
    EXPECT_EQ(verdict("time.median_us", value, bounded), Verdict::error) << value;
    EXPECT_EQ(verdict("shared.raw_bank_conflicts", value, ""), Verdict::unbudgeted) << value;
  }
  EXPECT_EQ(judged(fact("registers", kNan)).reason, "registers is nan, which is not finite");
  EXPECT_EQ(verdict("registers", "many", "registers = 32"), Verdict::error);
  EXPECT_EQ(verdict("occupancy.limiter", 3.0, ""), Verdict::error);
}

TEST(Judge, LeavesLinesAndErrorsAlone) {
  Fact of_line = fact("shared.bank_conflicts", 7.0);
  of_line.scope = Scope::line;
  EXPECT_EQ(judged(of_line).verdict, Verdict::unbudgeted);
  EXPECT_EQ(judged(of_line).reason, "");
  Fact failed = fact("result.correct", {});
  failed.verdict = Verdict::error;
  failed.reason = "wrong result";
  EXPECT_EQ(judged(failed).verdict, Verdict::error);
  EXPECT_EQ(judged(failed).reason, "wrong result");
  EXPECT_FALSE(judged(failed).limit);
}

TEST(Judge, WaiverHoldsUpToAndIncludingItsDate) {
  const std::string line = R"(registers = { max = 48, until = 2026-05-01, reason = "new tile" })";
  const Fact waived = judged(fact("registers", 40.0), line);
  EXPECT_EQ(waived.verdict, Verdict::waived);
  EXPECT_EQ(waived.reason, "registers is 40, waived until 2026-05-01: new tile");
  EXPECT_EQ(budget_of(waived), "<= 48 until 2026-05-01");
  EXPECT_EQ(judged(fact("registers", 48.0), line).verdict, Verdict::waived);
  EXPECT_EQ(judged(fact("registers", 49.0), line).verdict, Verdict::fail);
  for (const double value : {0.0, 40.0, 49.0}) {
    EXPECT_EQ(judged(fact("registers", value), line, 2026y / 5 / 2).verdict, Verdict::fail);
  }
  EXPECT_EQ(judged(fact("registers", 40.0), line, 2026y / 5 / 2).reason,
            "registers is 40, waiver expired on 2026-05-01");
}

TEST(Judge, ExpiredWaiverOfNothingIsUnmeasured) {
  const std::string line = R"(registers = { max = 48, until = 2026-04-30, reason = "new tile" })";
  EXPECT_EQ(judged(fact("registers", {}), line).verdict, Verdict::unmeasured);
}

TEST(Judge, ReasonsShowWhyExactValuesDiffer) {
  const std::string line = "\"occupancy.theoretical\" = 0.666667";
  EXPECT_EQ(judged(fact("occupancy.theoretical", 2.0 / 3), line).reason,
            "occupancy.theoretical is 0.6666666666666666, budget >= 0.666667");
  EXPECT_EQ(judged(fact("registers", 20.0), "registers = 32").reason,
            "registers is 20, better than budget <= 32");
  EXPECT_EQ(judged(fact("registers", 32.0), "registers = 32").reason, "") << "within budget";
}

TEST(Judge, JudgingTwiceChangesNothing) {
  const std::string line = "registers = 32";
  const Fact once = judged(fact("registers", 40.0), line);
  const Fact twice = judged(once, line);
  EXPECT_EQ(twice.verdict, once.verdict);
  EXPECT_EQ(twice.reason, once.reason);
  // Another file leaves nothing of the old verdict.
  EXPECT_FALSE(judged(once).limit);
  EXPECT_EQ(judged(once).reason, "");
  Fact time = fact("time.median_us", 100.0);
  time.machine = MachineState{.disturbance = "hot"};
  const std::string of_time = "\"time.median_us\" = { max = 100, tolerance = 0.1 }";
  EXPECT_EQ(judged(judged(time, of_time), of_time).reason, "disturbed: hot");
}

/// A count of the emulator that is not sure.
Fact unsure(double conflicts, Confidence confidence = Confidence::estimate) {
  Fact value = fact("shared.bank_conflicts", conflicts);
  value.source = "emulator";
  value.confidence = to_string(confidence);
  value.confidence_reason = "ptxas spills registers here";
  return value;
}

Fact judged_from(const std::string& gate_on, Fact fact) {
  judge(fact, Budgets::parse(gate_on, "budgets.toml", kCases), kToday);
  return fact;
}

TEST(Judge, CountsThatAreNotExactKeepTheirValueAndAreUnmeasured) {
  const Fact bad = judged(unsure(31));
  EXPECT_EQ(bad.verdict, Verdict::unmeasured);
  EXPECT_EQ(bad.value, Value(31.0));
  EXPECT_EQ(budget_of(bad), "= 0");
  EXPECT_EQ(bad.would, Verdict::fail);
  EXPECT_EQ(bad.reason,
            "shared.bank_conflicts is 31 (estimate: ptxas spills registers here), which budget = 0 "
            "would fail; gate_on = \"estimate\" in the budget file would judge it");
  const Fact good = judged(unsure(0, Confidence::predicted));
  EXPECT_EQ(good.verdict, Verdict::unmeasured);
  EXPECT_EQ(good.would, Verdict::pass);
  EXPECT_EQ(good.reason,
            "shared.bank_conflicts is 0 (predicted: ptxas spills registers here), which budget = 0 "
            "would pass; gate_on = \"predicted\" in the budget file would judge it");
}

TEST(Judge, GateOnSaysHowSureIsSureEnough) {
  using enum Confidence;
  struct {
    std::string file;
    Confidence least;
  } const rows[] = {{"", exact},
                    {"gate_on = \"exact\"", exact},
                    {"gate_on = \"predicted\"", predicted},
                    {"gate_on = \"estimate\"", estimate}};
  for (const auto& [file, least] : rows) {
    for (const Confidence confidence : {exact, predicted, estimate}) {
      const bool sure = confidence <= least;
      EXPECT_EQ(judged_from(file, unsure(31, confidence)).verdict,
                sure ? Verdict::fail : Verdict::unmeasured)
          << file << to_string(confidence);
      EXPECT_EQ(judged_from(file, unsure(0, confidence)).verdict,
                sure ? Verdict::pass : Verdict::unmeasured)
          << file << to_string(confidence);
    }
  }
}

TEST(Judge, NoDoubtHidesWhatIsUnbudgetedOrCannotBe) {
  Fact sectors = unsure(7);
  sectors.metric = "global.load.sectors";
  EXPECT_EQ(judged(sectors).verdict, Verdict::unbudgeted);
  EXPECT_EQ(judged(unsure(-1)).verdict, Verdict::error);
}

TEST(Judge, NoiseIsWhatToleranceIsFor) {
  Fact time = fact("time.median_us", 10.0);
  time.confidence = "estimate";
  time.confidence_reason = "times differ from run to run";
  const std::string line = "\"time.median_us\" = { max = 9, tolerance = \"5%\" }";
  EXPECT_EQ(judged(time, line).verdict, Verdict::fail);
}

TEST(Judge, SaysWhatWouldBeOnlyOfWhatIsNotJudged) {
  EXPECT_FALSE(judged_from("gate_on = \"estimate\"", unsure(31)).would) << "it fails";
  EXPECT_FALSE(judged(fact("shared.bank_conflicts", {})).would);
  EXPECT_FALSE(judged_from("gate_on = \"estimate\"", judged(unsure(31))).would);
  const Fact twice = judged(judged(unsure(31)));
  EXPECT_EQ(twice.would, Verdict::fail);
  EXPECT_EQ(twice.reason, judged(unsure(31)).reason);
}

TEST(Judge, TheLimitSaysHowSureIsSureEnough) {
  EXPECT_EQ(judged(unsure(31)).limit->gate_on, Confidence::exact);
  EXPECT_EQ(judged_from("gate_on = \"predicted\"", unsure(31)).limit->gate_on,
            Confidence::predicted);
}

TEST(Judge, UnknownMetricThrows) { EXPECT_THROW(judged(fact("colour", 1.0)), std::out_of_range); }

/// A case of 33 registers beside one of 30, `naive.f32`, by a budget of one line.
Fact judged_beside(const std::string& line, Fact value = fact("registers", 33.0),
                   Fact other = fact("registers", 30.0)) {
  const std::vector<CaseId> cases = {kCases[0], {"transpose", "naive", "f32", "64x64"}};
  other.id = cases[1];
  const auto budgets = Budgets::parse("[\"tiled.f32\"]\n" + line, "budgets.toml", cases);
  const std::vector<Fact> before = {other};
  judge(value, budgets, kToday, References({}, [&] { return std::span(before); }));
  return value;
}

TEST(Ratio, IsOfTheOtherCase) {
  const std::string line = "registers = { max = 1.1, of = \"naive.f32\" }";
  EXPECT_EQ(judged_beside(line).verdict, Verdict::pass);  // 1.1 x 30 is a little more than 33
  const Fact over = judged_beside(line, fact("registers", 34.0));
  EXPECT_EQ(over.verdict, Verdict::fail);
  EXPECT_EQ(over.reason, "registers is 34, budget <= 1.1 x 30 of naive.f32");
  EXPECT_EQ(over.limit->reference, 30.0);
  EXPECT_EQ(over.limit->max, 1.1);
}

TEST(Ratio, IsARuleThatNothingIsBetterThan) {
  const std::string line = "registers = { max = 2, of = \"naive.f32\" }";
  EXPECT_EQ(judged_beside(line, fact("registers", 1.0)).verdict, Verdict::pass);
  const std::string equal = "registers = { equal = 2, of = \"naive.f32\" }";
  EXPECT_EQ(judged_beside(equal, fact("registers", 1.0)).verdict, Verdict::better);
}

TEST(Ratio, TakesTheToleranceOfTheMultiple) {
  const std::string line = "registers = { max = 1, of = \"naive.f32\", tolerance = \"10%\" }";
  EXPECT_EQ(judged_beside(line).verdict, Verdict::pass);
  EXPECT_EQ(budget_of(judged_beside(line)), "<= 1 x 30 of naive.f32 ± 10%");
  EXPECT_EQ(judged_beside(line, fact("registers", 34.0)).verdict, Verdict::fail);
}

TEST(Ratio, OfZeroIsZero) {
  const std::string line = "registers = { max = 2, of = \"naive.f32\" }";
  const Fact nothing = fact("registers", 0.0);
  EXPECT_EQ(judged_beside(line, nothing, nothing).verdict, Verdict::pass);
  EXPECT_EQ(judged_beside(line, fact("registers", 1.0), nothing).verdict, Verdict::fail);
}

TEST(Ratio, IsUnmeasuredWithoutTheOtherCase) {
  const std::string line = "registers = { max = 2, of = \"naive.f32\" }";
  Fact missing = fact("registers", {});
  missing.reason = "it crashed";
  const Fact unmeasured = judged_beside(line, fact("registers", 1.0), missing);
  EXPECT_EQ(unmeasured.verdict, Verdict::unmeasured);
  EXPECT_FALSE(unmeasured.would);
  EXPECT_THAT(unmeasured.reason,
              HasSubstr("<= 2 x naive.f32, and naive.f32 is not known: it crashed"));
  EXPECT_THAT(judged_beside(line, fact("registers", 1.0), fact("instructions", 1.0)).reason,
              HasSubstr("not measured in this run"));
  EXPECT_THAT(judged_beside(line, fact("registers", 1.0), fact("registers", -1.0)).reason,
              HasSubstr("registers is -1, which is negative"));
  Fact elsewhere = fact("registers", 30.0);
  elsewhere.arch = "sm_90a";
  EXPECT_EQ(judged_beside(line, fact("registers", 1.0), elsewhere).verdict, Verdict::unmeasured);
}

TEST(Ratio, OfAnEstimateIsAnEstimate) {
  Fact exact = fact("registers", 61.0), estimate = fact("registers", 30.0);
  exact.confidence = "exact";
  estimate.confidence = "estimate";
  const std::string line = "registers = { max = 2, of = \"naive.f32\" }";
  const Fact withheld = judged_beside(line, exact, estimate);
  EXPECT_EQ(withheld.verdict, Verdict::unmeasured);
  EXPECT_EQ(withheld.would, Verdict::fail);
  EXPECT_EQ(withheld.reason,
            "registers is 61 (estimate: that of naive.f32), which budget <= 2 x 30 of naive.f32 "
            "would fail; gate_on = \"estimate\" in the budget file would judge it");
}

TEST(Ratio, AnExpiredWaiverFailsWithoutTheOtherCase) {
  const std::string line =
      "registers = { max = 2, of = \"naive.f32\", until = 2026-04-30, reason = \"r\" }";
  EXPECT_EQ(judged_beside(line, fact("registers", 1.0), fact("registers", {})).verdict,
            Verdict::fail);
}

TEST(Ratio, OfTheIdealIsOfTheSameCase) {
  std::vector<Fact> facts = {fact("global.excess_sectors", 101.0),
                             fact("global.sectors_ideal", 100.0)};
  const auto budgets = Budgets::parse(
      "[default]\n\"global.excess_sectors\" = { max = 1, of = \"ideal\" }", "b.toml", kCases);
  judge(facts[0], budgets, kToday, References(facts));
  EXPECT_EQ(facts[0].reason, "global.excess_sectors is 101, budget <= 1 x 100 of ideal");
  EXPECT_EQ(facts[0].verdict, Verdict::fail);
  judge(facts[0], budgets, kToday);
  EXPECT_EQ(facts[0].verdict, Verdict::unmeasured);
}

}  // namespace
}  // namespace warpgauge::metrics::judge_test
