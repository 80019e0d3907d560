// Facts that a gate should have and has not.
#include "harness/gate/lost_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/harness/own_family.h"

namespace warpgauge::gate::lost_facts_test {
namespace {

using metrics::Fact;
using metrics::Verdict;
using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;

constexpr std::string_view kBudgets = R"([default]
"time.median_us" = { max = 5, tolerance = "5%" }
"dram.bytes" = { max = 4096, tolerance = "5%" }
)";

/// A gate on a GPU, sm_90, of own.plain.f32@64, and one of own.uncounted.f32@64.
class LostFacts : public testing::Test {
 protected:
  LostFacts() {
    family_.add({.id = {"own", "uncounted", "f32", "64"}, .counted = false});
    family_.add({.id = {"own", "later", "f32", "64"}, .needs = "sm_120"});
  }

  Fact fact(const std::string& metric, const std::string& arch = "sm_90",
            Verdict verdict = Verdict::pass) const {
    return {.id = {"own", variant_, "f32", "64"},
            .arch = arch,
            .metric = metric,
            .value = 1.0,
            .verdict = verdict};
  }

  /// "registers: error, the reason".
  std::vector<std::string> lost(const std::vector<Fact>& facts) const {
    const FamilyBudgets budgets = family_.budgets();
    const Plan plan{.options = options_,
                    .budgets = budgets,
                    .cases = {family_.at(variant_)},
                    .archs = {"sm_90"},
                    .gpu = {.arch = "sm_90"},
                    .run_archs = {"sm_90"},
                    .fuzzed = {},
                    .not_noisy = not_noisy_,
                    .left_out = {}};
    std::vector<std::string> texts;
    for (const Fact& one : lost_facts(plan, facts)) {
      EXPECT_EQ(one.id.variant, variant_);
      texts.push_back(one.metric + ": " + (one.verdict == Verdict::error ? "error, " : "") +
                      one.reason);
    }
    return texts;
  }

  OwnFamily family_{{"plain"}, kBudgets};
  GateOptions options_;
  std::string variant_ = "plain", not_noisy_;
};

TEST_F(LostFacts, AreNoneWhereAllAreThere) {
  EXPECT_THAT(
      lost({fact("result.correct"), fact("registers"), fact("time.median_us"), fact("dram.bytes")}),
      IsEmpty());
}

TEST_F(LostFacts, WithoutAResultTheCaseIsAnError) {
  const auto no_result = ElementsAre("result.correct: error, no result of this case came back");
  EXPECT_THAT(lost({}), no_result);
  EXPECT_THAT(lost({fact("registers")}), no_result);
  Fact of_line = fact("result.correct");
  of_line.scope = metrics::Scope::line;
  EXPECT_THAT(lost({of_line}), no_result);
  Fact of_another = fact("result.correct");
  of_another.id.size = "65";
  EXPECT_THAT(lost({of_another}), no_result);
}

TEST_F(LostFacts, AfterAnErrorNothingMoreIsExpected) {
  EXPECT_THAT(lost({fact("result.correct", "sm_90", Verdict::error)}), IsEmpty());
}

TEST_F(LostFacts, WithoutCompileTimeFactsTheCaseIsAnError) {
  EXPECT_THAT(lost({fact("result.correct"), fact("registers", "sm_80"), fact("time.median_us"),
                    fact("dram.bytes")}),
              ElementsAre("result.correct: error, no compile-time facts for sm_90 came back"));
}

TEST_F(LostFacts, NoisyValuesWithABudgetAreUnmeasured) {
  const std::vector<Fact> others = {fact("result.correct"), fact("registers")};
  EXPECT_THAT(lost(others), ElementsAre("dram.bytes: no times and hardware counters came back",
                                        EndsWith("-bench measures it")));
  not_noisy_ = "they were left out by an option";
  EXPECT_THAT(lost(others), ElementsAre("dram.bytes: they were left out by an option",
                                        EndsWith("-bench measures it")));
}

TEST_F(LostFacts, ACaseOfNoKernelsHasItsResultAlone) {
  variant_ = "uncounted";
  EXPECT_THAT(lost({fact("result.correct")}), IsEmpty());
  EXPECT_THAT(lost({}), ElementsAre("result.correct: error, no result of this case came back"));
}

TEST_F(LostFacts, ACaseThatDoesNotExistHereHasNone) {
  variant_ = "later";
  EXPECT_THAT(lost({}), IsEmpty());
}

}  // namespace
}  // namespace warpgauge::gate::lost_facts_test
