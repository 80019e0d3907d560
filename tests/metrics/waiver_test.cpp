// Waivers of findings: which finding they name, until when, and what is said of others.
#include "metrics/budgets/waiver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "metrics/budgets/budget.h"
#include "metrics/budgets/judge.h"
#include "metrics/budgets/waiver_use.h"

namespace warpgauge::metrics::waiver_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;
using namespace std::chrono_literals;

constexpr std::chrono::year_month_day kToday = 2026y / 5 / 1;
const std::vector<CaseId> kCases = {{"bfs", "frontier", "u32", "64x64"}};

Fact race(int line, const std::string& other) {
  Fact finding{.id = kCases.front(), .arch = "sm_90", .metric = "result.correct"};
  finding.file = "kernels/bfs/bfs.cu";
  finding.line = line;
  finding.other = other;
  finding.rule = "race";
  finding.reason = "two threads";
  finding.verdict = Verdict::error;
  return finding;
}

const std::string kOther = "kernels/bfs/bfs.cu:35";

std::string waiver(const std::string& lines, const std::string& more = "") {
  return "waive = [{ rule = \"race\", lines = [" + lines + "], reason = \"one level\"" + more +
         " }]\n";
}

const std::string kWaiver = waiver(R"("bfs.cu:31", "bfs.cu:35")");

Fact judged(Fact finding, const std::string& file, std::chrono::year_month_day today = kToday) {
  judge(finding, Budgets::parse(file, "budgets.toml", kCases), today);
  return finding;
}

TEST(Waiver, LetsAFindingOfItsRuleAndLinesPass) {
  const Fact waived = judged(race(31, kOther), "[frontier]\n" + kWaiver);
  EXPECT_EQ(waived.verdict, Verdict::waived);
  EXPECT_EQ(waived.value, Value()) << "it says nothing of the result";
  EXPECT_EQ(waived.rule, "race");
  EXPECT_EQ(waived.reason, "waived by budgets.toml:2 (one level): two threads");
  EXPECT_THAT(waived.cure, IsEmpty());
}

TEST(Waiver, TakesTheLinesInEitherOrder) {
  const Fact waived = judged(race(35, "kernels/bfs/bfs.cu:31"), "[frontier]\n" + kWaiver);
  EXPECT_EQ(waived.verdict, Verdict::waived);
}

TEST(Waiver, OfOneLineIsForFindingsOfThatLineAlone) {
  const std::string file = "[frontier]\n" + waiver(R"("bfs.cu:31")");
  EXPECT_EQ(judged(race(31, ""), file).verdict, Verdict::waived);
  EXPECT_EQ(judged(race(31, "kernels/bfs/bfs.cu:31"), file).verdict, Verdict::waived);
  EXPECT_EQ(judged(race(31, kOther), file).verdict, Verdict::error);
}

TEST(Waiver, OfTwoLinesIsNotForFindingsOfOne) {
  EXPECT_EQ(judged(race(31, ""), "[frontier]\n" + kWaiver).verdict, Verdict::error);
}

Fact of_program(const std::string& rule, const std::string& allocation) {
  Fact finding = race(0, allocation);
  finding.file.clear();
  finding.rule = rule;
  return finding;
}

std::string waiver_of(const std::string& rule, const std::string& lines) {
  return "[default]\nwaive = [{ rule = \"" + rule + "\", " + lines + "reason = \"a cache\" }]\n";
}

TEST(Waiver, NamesTheAllocationOfAFindingOfTheProgram) {
  const Fact leak = of_program("leak", "cudaMalloc #3");
  EXPECT_EQ(judged(leak, waiver_of("leak", R"(lines = ["cudaMalloc #3"], )")).verdict,
            Verdict::waived);
  for (const char* other : {R"(lines = ["cudaMalloc #2"], )", R"(lines = ["Malloc #3"], )", ""}) {
    EXPECT_EQ(judged(leak, waiver_of("leak", other)).verdict, Verdict::error) << other;
  }
  Fact of_case = leak;  // of a case of the gate, with the line of its registration
  of_case.context = std::make_shared<const CaseContext>(CaseContext{.file = "a.cu", .line = 9});
  of_case.file = "a.cu";
  of_case.line = 9;
  EXPECT_EQ(judged(of_case, waiver_of("leak", R"(lines = ["cudaMalloc #3"], )")).verdict,
            Verdict::waived);
  Fact use = of_program("use after free", "cudaMallocAsync #1");
  use.file = "a.cu";
  use.line = 7;
  const std::string both = R"(lines = ["a.cu:7", "cudaMallocAsync #1"], )";
  EXPECT_EQ(judged(use, waiver_of("use after free", both)).verdict, Verdict::waived);
}

TEST(Waiver, NeedsNoLinesWhereAFindingOfTheProgramNamesNone) {
  const std::string file = waiver_of("invalid free", "");
  EXPECT_EQ(judged(of_program("invalid free", ""), file).verdict, Verdict::waived);
  EXPECT_EQ(judged(of_program("invalid free", "cudaMalloc #3"), file).verdict, Verdict::error);
}

TEST(Waiver, OfAKernelsFindingWithoutALineIsNone) {
  Fact found = race(0, "f.cu:1");
  found.file.clear();
  EXPECT_EQ(judged(found, "[default]\n" + waiver(R"("f.cu:1")")).verdict, Verdict::error);
}

TEST(Waiver, NamesFilesByWholeWords) {
  const std::string whole = "[frontier]\n" + waiver(R"("kernels/bfs/bfs.cu:31")");
  EXPECT_EQ(judged(race(31, ""), whole).verdict, Verdict::waived);
  for (const char* other : {R"("fs.cu:31")", R"("other/bfs.cu:31")", R"("bfs.cu:3")"}) {
    const Fact found = judged(race(31, ""), "[frontier]\n" + waiver(other));
    EXPECT_EQ(found.verdict, Verdict::error) << other;
  }
}

TEST(Waiver, ThatHasExpiredHidesNoOther) {
  const std::string expired = waiver(R"("bfs.cu:31", "bfs.cu:35")", ", until = 2020-01-01");
  const Fact waived = judged(race(31, kOther), "[default]\n" + kWaiver + "[frontier]\n" + expired);
  EXPECT_THAT(waived.reason, StartsWith("waived by budgets.toml:2 "));
}

TEST(Waiver, NearAFindingIsNamedAsItsCure) {
  const Fact moved = judged(race(32, kOther), "[frontier]\n" + kWaiver);
  EXPECT_EQ(moved.verdict, Verdict::error);
  EXPECT_EQ(moved.cure,
            "budgets.toml:2 waives a race at bfs.cu:31, bfs.cu:35: if it is this one, write its "
            "lines there");
  EXPECT_EQ(moved.reason, "two threads");
  Fact other = race(90, "");
  EXPECT_THAT(judged(other, "[frontier]\n" + kWaiver).cure, StartsWith("budgets.toml:2 waives"));
  other.file = "kernels/bfs/queue.cu";
  EXPECT_THAT(judged(other, "[frontier]\n" + kWaiver).cure, IsEmpty()) << "of another file";
  other.file = "kernels/bfs/bfs.cu";
  other.rule = "barrier";
  EXPECT_THAT(judged(other, "[frontier]\n" + kWaiver).cure, IsEmpty()) << "of another rule";
  other.line = 31;
  EXPECT_THAT(judged(other, "[frontier]\n" + kWaiver).cure, StartsWith("budgets.toml:2 waives"));
}

TEST(Waiver, EndsWithItsDay) {
  const std::string file =
      "[frontier]\n" + waiver(R"("bfs.cu:31", "bfs.cu:35")", ", until = 2026-05-01");
  const Fact last = judged(race(31, kOther), file);
  EXPECT_EQ(last.verdict, Verdict::waived);
  EXPECT_THAT(last.reason, StartsWith("waived until 2026-05-01 by budgets.toml:2 (one level)"));
  const Fact late = judged(race(31, kOther), file, 2026y / 5 / 2);
  EXPECT_EQ(late.verdict, Verdict::error);
  EXPECT_EQ(late.cure, "its waiver in budgets.toml:2 expired on 2026-05-01");
}

TEST(Waiver, HoldsForTheCasesAndArchitecturesOfItsSection) {
  EXPECT_EQ(judged(race(31, kOther), "[default]\n" + kWaiver).verdict, Verdict::waived);
  EXPECT_EQ(judged(race(31, kOther), "[default.sm_90]\n" + kWaiver).verdict, Verdict::waived);
  EXPECT_EQ(judged(race(31, kOther), "[default.sm_75]\n" + kWaiver).verdict, Verdict::error);
}

TEST(Waiver, OfAProjectOrAKernelIsFound) {
  Budgets family;
  const std::vector<CaseId> families = {{"default", "default", "", ""}};
  family.rest_on(Budgets::parse("[default]\n" + kWaiver, "warpgauge.toml", families));
  Fact finding = race(31, kOther);
  judge(finding, family, kToday);
  EXPECT_THAT(finding.reason, StartsWith("waived by warpgauge.toml:2"));

  const Budgets kernels = Budgets::parse("[frontier]\n" + kWaiver, "kernels.toml", kCases);
  const std::vector<std::string> names = {"frontier"}, others = {"front"};
  Fact of_kernel = race(31, kOther);
  judge(of_kernel, kernels.of_kernel(of_kernel.id, others), kToday);
  EXPECT_EQ(of_kernel.verdict, Verdict::error);
  judge(of_kernel, kernels.of_kernel(of_kernel.id, names), kToday);
  EXPECT_EQ(of_kernel.verdict, Verdict::waived);
}

TEST(Waiver, IsForNoErrorThatNoCheckHasFound) {
  Fact wrong = race(31, kOther);
  wrong.rule.clear();
  const Fact still = judged(wrong, "[frontier]\n" + kWaiver);
  EXPECT_EQ(still.verdict, Verdict::error);
  EXPECT_THAT(still.cure, IsEmpty());
}

TEST(Waiver, StaysAfterItWasJudgedAgain) {
  const std::string file = "[frontier]\n" + kWaiver;
  const Fact once = judged(race(31, kOther), file);
  const Fact twice = judged(once, file);
  EXPECT_EQ(twice.verdict, Verdict::waived);
  EXPECT_EQ(twice.reason, once.reason);
}

std::vector<std::string> unused(const Fact& found, const std::string& file,
                                const std::string& checks) {
  const Budgets budgets = Budgets::parse(file, "budgets.toml", kCases);
  WaiverUse use;
  use.add(budgets.waivers(found.id, found.arch), found);
  return use.unused(checks);
}

TEST(WaiverUse, TellsWaiversThatNoFindingNeeded) {
  const std::string file = "[default]\n" + kWaiver;
  EXPECT_THAT(unused(race(31, kOther), file, "races"), IsEmpty());
  EXPECT_THAT(unused(race(32, kOther), file, "races"),
              ElementsAre("budgets.toml:2: no finding needed the waiver of 'race' at bfs.cu:31, "
                          "bfs.cu:35: remove it, if the code is mended"));
  Fact right = race(31, kOther);
  right.rule.clear();
  EXPECT_THAT(unused(right, file, "races"), SizeIs(1));
}

TEST(WaiverUse, TellsThemOnlyWhereTheirCheckWasMade) {
  const std::string file = "[default]\n" + kWaiver;
  EXPECT_THAT(unused(race(32, kOther), file, "async,lanes"), IsEmpty());
  EXPECT_THAT(unused(race(32, kOther), file, "none"), IsEmpty());
  EXPECT_THAT(unused(race(32, kOther), file, "all"), SizeIs(1));
  EXPECT_THAT(
      unused(race(32, kOther), waiver_of("early access", R"(lines = ["a.cu:1"], )"), "proxies"),
      SizeIs(1))
      << "which makes async";
}

TEST(WaiverUse, KnowsAWaiverThatOneOfManyCasesNeeded) {
  const Budgets budgets = Budgets::parse("[default]\n" + kWaiver, "budgets.toml", kCases);
  WaiverUse use;
  for (const Fact& found : {race(32, kOther), race(31, kOther), race(32, kOther)}) {
    use.add(budgets.waivers(found.id, found.arch), found);
  }
  EXPECT_THAT(use.unused("races"), IsEmpty());
}

}  // namespace
}  // namespace warpgauge::metrics::waiver_test
