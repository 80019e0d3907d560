// Planted defects that a gate finds, and gates that are blind to them.
#include "harness/measuring/self_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/cases/built_architectures.h"
#include "harness/measuring/blank_facts.h"
#include "harness/measuring/error_facts.h"
#include "harness/measuring/exact_count_facts.h"
#include "harness/measuring/missing_facts.h"
#include "harness/measuring/self_test_kernels.h"
#include "metrics/budgets/judge.h"
#include "metrics/counting/line_counts.h"

namespace warpgauge::self_test_test {
namespace {

using metrics::Fact;
using metrics::Verdict;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

/// The judged facts of a counter that saw these wavefronts on the two lines of the planted bank
/// conflict that touch shared memory.
std::vector<Fact> counted(std::uint64_t wavefronts, int line = self_test::kBankConflictLine) {
  metrics::LineCounts store{.kernel = "k", .file = "harness/measuring/self_test.cu", .line = line};
  store.counts = {.shared_requests = 32,
                  .shared_wavefronts = wavefronts,
                  .shared_wavefronts_ideal = std::min<std::uint64_t>(wavefronts, 32)};
  metrics::LineCounts load = store;
  load.line = self_test::kBankConflictLine + 2;
  load.counts = {.shared_requests = 32, .shared_wavefronts = 32, .shared_wavefronts_ideal = 32};
  std::vector<Fact> facts =
      counted_facts({store, load}, blank_fact(planted_bank_conflict(), "sm_90"), "emulator");
  for (Fact& fact : facts) metrics::judge(fact, {}, std::chrono::year_month_day{});
  return facts;
}

Fact& of_case(std::vector<Fact>& facts, std::string_view metric) {
  return *std::ranges::find(facts, metric, &Fact::metric);
}

void expect_missed(const std::vector<Fact>& facts, const std::string& why) {
  EXPECT_THAT([&] { check_planted_bank_conflict(facts); },
              ThrowsMessage<SelfTestError>(HasSubstr(why)));
}

TEST(SelfTest, APlantedBankConflictThatIsCountedIsCaught) {
  EXPECT_THAT(check_planted_bank_conflict(counted(32 * 32)), IsEmpty());
}

TEST(SelfTest, ACounterThatCountsNothingIsFound) {
  expect_missed(counted(0), "shared.bank_conflicts is 0 instead of 992");
}

TEST(SelfTest, ACounterThatMissesOneIsFound) {
  expect_missed(counted(32 * 32 - 1), "shared.bank_conflicts is 991 instead of 992");
}

TEST(SelfTest, ABlameOnTheWrongLineIsFound) {
  expect_missed(counted(32 * 32, 7), "self_test.cu:7 is blamed instead of self_test.cu:");
}

TEST(SelfTest, AJudgeThatLetsItPassIsFound) {
  for (const Verdict verdict :
       {Verdict::pass, Verdict::better, Verdict::unbudgeted, Verdict::waived}) {
    std::vector<Fact> facts = counted(32 * 32);
    of_case(facts, "shared.bank_conflicts").verdict = verdict;
    expect_missed(facts, "the verdict on shared.bank_conflicts is " +
                             std::string(metrics::to_string(verdict)));
  }
}

TEST(SelfTest, ALostFactIsFound) {
  std::vector<Fact> facts = counted(32 * 32);
  std::erase_if(facts, [](const Fact& fact) { return fact.metric == "shared.bank_conflicts"; });
  expect_missed(facts, "there is no fact shared.bank_conflicts");
  expect_missed({}, "there is no fact shared.bank_conflicts");
}

TEST(SelfTest, ACanaryThatGoesWrongIsFound) {
  expect_missed({error_fact(planted_bank_conflict(), "wrong result: element 3")},
                "wrong result: element 3");
}

TEST(SelfTest, UncountableMetricsAreReportedWithTheReason) {
  Fact blank = blank_fact(planted_bank_conflict(), "");
  std::vector<Fact> facts =
      missing_facts({}, metrics::Source::sass, "no CUDA device", {blank, metrics::Budgets()});
  for (Fact& fact : facts) metrics::judge(fact, {}, std::chrono::year_month_day{});
  EXPECT_EQ(check_planted_bank_conflict(facts), "no CUDA device");
}

TEST(SelfTest, TheCompilerSpillsForEveryArchitecture) {
  for (const std::string& arch : built_archs()) {
    EXPECT_NO_THROW(check_planted_spill(planted_spill_facts(arch), arch));
  }
}

TEST(SelfTest, ASpillThatIsMissedIsFound) {
  const std::string arch = built_archs().front();
  std::vector<Fact> facts = planted_spill_facts(arch);
  EXPECT_THAT([&] { check_planted_spill(facts, "sm_1"); },
              ThrowsMessage<SelfTestError>(HasSubstr("it is of " + arch + ", not of sm_1")));
  Fact& stores = of_case(facts, "spill.store_bytes");
  stores.value = 0.0;
  metrics::judge(stores, {}, std::chrono::year_month_day{});
  EXPECT_THAT([&] { check_planted_spill(facts, arch); },
              ThrowsMessage<SelfTestError>(HasSubstr("the verdict on spill.store_bytes is pass")));
  std::erase_if(facts, [](const Fact& fact) { return fact.metric == "spill.store_bytes"; });
  EXPECT_THAT([&] { check_planted_spill(facts, arch); },
              ThrowsMessage<SelfTestError>(HasSubstr("there is no fact spill.store_bytes")));
}

TEST(SelfTest, WithoutAnArchitectureThereIsNothingToTest) {
  EXPECT_THROW(run_self_test({}), SelfTestError);
}

TEST(SelfTest, TheCanariesAreNotAmongTheCases) {
  for (const Case& test_case : Registry::instance().cases())
    EXPECT_NE(test_case.id.family, "self_test");
}

}  // namespace
}  // namespace warpgauge::self_test_test
