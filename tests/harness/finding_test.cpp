// Findings: which values are, in which order, what belongs together, and which lines are blamed.
#include "harness/outcome/finding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "harness/outcome/finding_text.h"
#include "tests/harness/outcome_facts.h"

namespace warpgauge::outcome::finding_test {
namespace {

using metrics::Fact;
using metrics::Verdict;
using testing::ElementsAre;
using testing::IsEmpty;
using enum metrics::Verdict;

constexpr Requirements kStrict = {.strict = true};
const metrics::Run kRun;

/// "tiled registers", for each finding in its order.
std::vector<std::string> order(const std::vector<Fact>& facts, const Requirements& required = {}) {
  std::vector<std::string> names;
  for (const Finding& finding : findings_of(facts, kRun, required)) {
    names.push_back(finding.shown().fact->id.variant + " " + finding.shown().fact->metric);
  }
  return names;
}

Fact with_verdict(Verdict verdict, std::string variant) {
  Fact fact = beyond(33, 32, "registers", std::move(variant));
  fact.verdict = verdict;
  return fact;
}

TEST(Finding, IsWhatPeopleHaveToLookAt) {
  EXPECT_THAT(order({with_verdict(pass, "a"), with_verdict(waived, "b"), with_verdict(better, "c"),
                     with_verdict(unbudgeted, "d"), with_verdict(unmeasured, "e"),
                     with_verdict(fail, "f"), with_verdict(error, "g"), with_verdict(moved, "h")}),
              ElementsAre("g registers", "f registers", "h registers"));
  Fact unsure = with_verdict(unmeasured, "a");
  unsure.would = pass;
  EXPECT_THAT(order({unsure}), IsEmpty());
  unsure.would = fail;
  EXPECT_THAT(order({unsure}), ElementsAre("a registers"));
}

TEST(Finding, OfABetterValueOnlyWhereItMakesTheRunRed) {
  EXPECT_THAT(order({with_verdict(better, "a")}), IsEmpty());
  EXPECT_THAT(order({with_verdict(better, "a"), with_verdict(moved, "b")}, kStrict),
              ElementsAre("a registers", "b registers"))
      << "what makes the run red comes first";
}

TEST(Finding, FarthestBeyondItsLimitComesFirst) {
  EXPECT_THAT(order({beyond(33, 32, "registers", "a"), beyond(64, 32, "registers", "b"),
                     beyond(1, 0, "shared.bank_conflicts", "c"),
                     beyond(31, 0, "shared.bank_conflicts", "d")}),
              ElementsAre("d shared.bank_conflicts", "c shared.bank_conflicts", "b registers",
                          "a registers"));
}

TEST(Finding, TheNearestNumberOfALimitCounts) {
  Fact below = beyond(20, 0, "registers", "a");  // 10 from its minimum, 20 from its maximum
  below.limit->min = 30;
  below.limit->max = 40;
  Fact above = beyond(52, 0, "registers", "b");  // 12 from its maximum
  above.limit->max = 40;
  Fact equal = beyond(35, 0, "registers", "c");  // 5 from the only value
  equal.limit->max = std::nullopt;
  equal.limit->equal = 30.0;
  Fact word = beyond(0, 0, "registers", "d");  // no number
  word.value = std::string("word");
  Fact none = beyond(1e6, 0, "registers", "e");
  none.limit.reset();
  EXPECT_THAT(
      order({word, none, equal, above, below}),
      ElementsAre("a registers", "b registers", "c registers", "d registers", "e registers"));
}

TEST(Finding, TheOrderOfEqualOnesIsThatOfTheirFacts) {
  EXPECT_THAT(order({with_verdict(error, "b"), with_verdict(error, "a")}),
              ElementsAre("b registers", "a registers"));
}

TEST(Finding, HasTheSameCaseOnOtherArchitecturesThenOtherSizes) {
  const std::vector<Fact> facts = {
      on(beyond(40, 32), "sm_80"), on(beyond(60, 32), "sm_90", "1024x1024"),
      on(beyond(50, 32), "sm_75"), on(beyond(64, 32), "sm_90"), on(beyond(36, 32), "sm_90a")};
  const std::vector<Finding> findings = findings_of(facts, kRun, {});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(title(findings[0]), "transpose.tiled.f32@64x64 on sm_90 and 3 more");
  EXPECT_EQ(also_text(findings[0]),
            "on sm_75 (50), on sm_80 (40), on sm_90a (36), @1024x1024 on sm_90 (60)");
}

TEST(Finding, OfACompiledKernelIsOneForAllFilesThatHaveIt) {
  const auto in_file = [](const std::string& file, const std::string& arch, double value,
                          metrics::CaseKind kind = metrics::CaseKind::inspected) {
    Fact fact = on(beyond(value, 0, "spill.load_bytes"), arch);
    fact.id.family = file;
    fact.kernel = "_Z1kv";
    fact.context = std::make_shared<const metrics::CaseContext>(metrics::CaseContext{.kind = kind});
    return fact;
  };
  const std::vector<Fact> facts = {in_file("lib118", "sm_80", 8), in_file("lib118", "sm_90", 16),
                                   in_file("lib124", "sm_90", 4)};
  const std::vector<Finding> findings = findings_of(facts, kRun, {});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].values.size(), 3u);
  EXPECT_EQ(title(findings[0]), "lib118.tiled.f32@64x64 on sm_90 and 1 more, in 2 files");
  EXPECT_EQ(also_text(findings[0]), "on sm_80 (8), lib124 on sm_90 (4)");
  std::vector<Fact> instances = {in_file("lib", "sm_90", 8), in_file("lib", "sm_90", 4)};
  instances[0].kernel = "_Z1kIiEvv";
  instances[1].kernel = "_Z1kIfEvv";
  instances[1].id.type = "f64";
  EXPECT_EQ(title(findings_of(instances, kRun, {}).at(0)),
            "lib.tiled.f32@64x64 on sm_90, 2 instances");
  const auto of_program = metrics::CaseKind::attached;
  EXPECT_EQ(
      findings_of({in_file("a", "sm_90", 8, of_program), in_file("b", "sm_90", 8, of_program)},
                  kRun, {})
          .size(),
      2u)
      << "kernels of programs";
}

TEST(Finding, NamesAtMostSixOthers) {
  std::vector<Fact> facts;
  for (int size = 1; size <= 9; ++size) {
    facts.push_back(on(beyond(100 - size, 32), "", std::to_string(size)));
  }
  EXPECT_EQ(also_text(findings_of(facts, kRun, {}).at(0)),
            "@2 (98), @3 (97), @4 (96), @5 (95), @6 (94), @7 (93) and 2 more");
}

TEST(Finding, OfOneCauseOnly) {
  const Fact fact = on(beyond(64, 32), "sm_90");
  Fact moved_one = on(fact, "sm_80");
  moved_one.verdict = moved;
  EXPECT_EQ(order({fact, on(fact, "sm_80")}).size(), 1u);
  EXPECT_EQ(order({fact, at(on(fact, "sm_80"), "family.cu", 8)}).size(), 2u) << "another line";
  EXPECT_EQ(order({fact, at(on(fact, "sm_80"), "tile.cuh", 7)}).size(), 2u) << "another file";
  EXPECT_EQ(order({fact, moved_one}).size(), 2u) << "another verdict";
  EXPECT_EQ(order({fact, on(beyond(64, 32, "instructions"), "sm_80")}).size(), 2u);
  EXPECT_EQ(order({fact, on(beyond(64, 32, "registers", "padded"), "sm_80")}).size(), 2u);
}

TEST(Finding, ErrorsOnOneLineBelongTogetherWhateverTheySay) {
  const Fact wrong = at(because(fact(error, "result.correct"), "element 3 is nan"), "f.cu", 7);
  const Fact other = because(on(wrong, "sm_80"), "element 4 is nan");
  EXPECT_EQ(order({wrong, other}).size(), 1u);
  EXPECT_EQ(order({wrong, at(other, "f.cu", 9)}).size(), 2u);
}

TEST(FindingText, GivesTheReasonOnlyWhereItSaysMoreThanTheBudget) {
  const auto text = [](auto change) {
    Fact fact = because(beyond(40, 32), "the reason");
    change(fact);
    return finding_text(findings_of({fact}, kRun, kStrict).at(0), "");
  };
  const auto reason = testing::HasSubstr("the reason");
  EXPECT_THAT(text([](Fact&) {}), testing::Not(reason));
  EXPECT_THAT(text([](Fact& fact) { fact.verdict = Verdict::moved; }), reason);
  EXPECT_THAT(text([](Fact& fact) { fact.verdict = Verdict::better; }), testing::Not(reason));
  EXPECT_THAT(text([](Fact& fact) { fact.limit->code = "aa"; }), reason);
  EXPECT_THAT(text([](Fact& fact) { fact.limit->until = std::chrono::year_month_day(); }), reason);
  EXPECT_THAT(text([](Fact& fact) { fact.limit.reset(); }), reason);
  EXPECT_THAT(text([](Fact& fact) { fact.machine = metrics::MachineState(); }),
              testing::Not(reason));
  EXPECT_THAT(
      text([](Fact& fact) { fact.machine = metrics::MachineState{.disturbance = "a load"}; }),
      reason);
}

/// The blamed lines as "7: 24 (0.75)".
std::vector<std::string> blame(const std::vector<Fact>& facts) {
  std::vector<std::string> lines;
  const std::vector<Finding> findings = findings_of(facts, kRun, {});
  for (const BlamedLine& line : findings.at(0).blame()) {
    lines.push_back(std::to_string(line.line) + ": " + metrics::to_text(line.value) + " (" +
                    metrics::to_text(line.share) + ")");
  }
  return lines;
}

TEST(Blame, IsTheWorstThreeLinesWithTheirShare) {
  const Fact whole = beyond(32, 0, "shared.bank_conflicts");
  EXPECT_THAT(blame({whole, of_line(whole, 5, 4), of_line(whole, 6, 16), of_line(whole, 8, 2),
                     of_line(whole, 9, 10)}),
              ElementsAre("6: 16 (0.5)", "9: 10 (0.3125)", "5: 4 (0.125)"));
}

TEST(Blame, IsBothLinesOfWhatACheckHasFound) {
  Fact race = with_verdict(error, "a");
  race.rule = "race";
  race.file = "bfs.cu";
  race.line = 7;
  const auto places = [&](const std::string& other) {
    race.other = other;
    std::vector<std::string> places;
    const std::vector<Finding> findings = findings_of({race}, kRun, {});
    for (const BlamedLine& line : findings.at(0).blame()) {
      places.push_back(line.file + ":" + std::to_string(line.line));
    }
    return places;
  };
  EXPECT_THAT(places("queue.cu:12"), ElementsAre("bfs.cu:7", "queue.cu:12"));
  EXPECT_THAT(places("bfs.cu:12"), ElementsAre("bfs.cu:7", "bfs.cu:12"));
  EXPECT_THAT(places("bfs.cu:7"), ElementsAre("bfs.cu:7")) << "a line that races with itself";
  EXPECT_THAT(places("bfs, PTX line 12"), ElementsAre("bfs.cu:7"));
  EXPECT_THAT(places(""), ElementsAre("bfs.cu:7"));
}

TEST(Blame, AddsUpTheKernelsOfALine) {
  const Fact whole = beyond(32, 0, "shared.bank_conflicts");
  EXPECT_THAT(blame({whole, of_line(whole, 5, 8), of_line(whole, 6, 12), of_line(whole, 5, 12)}),
              ElementsAre("5: 20 (0.625)", "6: 12 (0.375)"));
}

TEST(Blame, HasSharesWhereLinesAddUpButForRounding) {
  const Fact whole = beyond(300000.00001, 0, "shared.bank_conflicts");
  EXPECT_THAT(blame({whole, of_line(whole, 5, 75000), of_line(whole, 6, 225000)}),
              ElementsAre("6: 225000 (0.75)", "5: 75000 (0.25)"));
}

TEST(Blame, HasNoSharesWhereLinesDoNotAddUp) {
  const Fact ways = beyond(32, 4, "shared.bank_ways");
  EXPECT_THAT(blame({ways, of_line(ways, 5, 32), of_line(ways, 6, 2)}),
              ElementsAre("5: 32 (0)", "6: 2 (0)"));
}

TEST(Blame, IsThatOfTheCaseThatIsShown) {
  const Fact worst = on(beyond(32, 0, "shared.bank_conflicts"), "sm_90");
  const Fact other = on(beyond(8, 0, "shared.bank_conflicts"), "sm_80");
  EXPECT_THAT(blame({other, of_line(other, 6, 8), worst, of_line(worst, 5, 32)}),
              ElementsAre("5: 32 (1)"));
}

TEST(Blame, WithoutLinesIsThePlaceOfTheValue) {
  EXPECT_THAT(blame({beyond(33, 32)}), ElementsAre("7: 0 (0)"));
  EXPECT_THAT(blame({at(beyond(33, 32), "", 0)}), IsEmpty());
}

TEST(Blame, HasTheChainThatALineWasInlinedThrough) {
  const Fact whole = beyond(32, 0, "shared.bank_conflicts");
  Fact first = of_line(whole, 5, 20), second = of_line(whole, 5, 12);
  first.inlined = {{"/usr/include/x.h", 90}, {"family.cu", 5}, {"family.cu", 30}};
  second.inlined = {{"/usr/include/x.h", 91}, {"family.cu", 5}, {"family.cu", 30}};
  const auto chain = [](const std::vector<Fact>& facts) {
    const BlamedLine line = findings_of(facts, kRun, {}).at(0).blame().at(0);
    return inlined_text({line.file, line.line, line.inlined});
  };
  EXPECT_EQ(chain({whole, first}), "inlined from /usr/include/x.h:90; inlined at family.cu:30");
  EXPECT_EQ(chain({whole, first, second}), "inlined at family.cu:30") << "what both share";
  Fact fault = at(fact(error, "result.correct"), "family.cu", 5);
  fault.inlined = first.inlined;
  EXPECT_EQ(chain({fault}), "inlined from /usr/include/x.h:90; inlined at family.cu:30");
}

TEST(InlinedText, NamesTheNearestLines) {
  EXPECT_EQ(inlined_text({"a.cu", 5}), "");
  EXPECT_EQ(inlined_text({"/usr/x.h", 1, {{"/usr/x.h", 1}, {"a.cu", 5}}}), "inlined at a.cu:5");
  metrics::SourceLine line = {"a.cu", 5, {{"/usr/x.h", 1}, {"a.cu", 5}}};
  EXPECT_EQ(inlined_text(line), "inlined from /usr/x.h:1");
  line.inlined.insert(line.inlined.begin() + 1, {{"/usr/y.h", 2}, {"/usr/z.h", 3}});
  for (int number = 6; number < 11; ++number) line.inlined.push_back({"a.cu", number});
  EXPECT_EQ(inlined_text(line),
            "inlined from /usr/z.h:3 and 2 more; inlined at a.cu:6, a.cu:7, a.cu:8 and 2 more");
}

TEST(ValueText, IsRoundedForPeopleAndHasItsUnit) {
  EXPECT_EQ(value_text(beyond(33, 32)), "33 registers/thread");
  EXPECT_EQ(value_text(fact(error, "result.correct")), "not measured");
  Fact correct = fact(fail, "result.correct");
  correct.value = 0.0;
  EXPECT_EQ(value_text(correct), "0");
}

}  // namespace
}  // namespace warpgauge::outcome::finding_test
