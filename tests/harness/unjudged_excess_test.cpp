// Shows the largest waste that no budget judges.
#include "harness/outcome/unjudged_excess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/outcome/outcome_text.h"
#include "harness/outcome/results_json.h"
#include "tests/harness/outcome_facts.h"

namespace warpgauge::outcome::unjudged_excess_test {
namespace {

using metrics::Fact;
using metrics::Verdict;
using testing::HasSubstr;
using testing::Not;

/// A case with 300 sectors more than its ideal, and one whose conflicts a budget judges.
std::vector<Fact> two_cases(Verdict of_sectors) {
  return {counted("global.excess_sectors", 300, of_sectors),
          counted("global.sectors_ideal", 100, Verdict::unbudgeted),
          counted("shared.bank_conflicts", 0, Verdict::pass),
          counted("registers", 32, Verdict::unbudgeted),
          counted("shared.bank_conflicts", 992, Verdict::waived, "tiled"),
          counted("shared.wavefronts_ideal", 32, Verdict::unbudgeted, "tiled")};
}

constexpr const char* kText =
    "Not judged: transpose.naive.f32@64x64 on sm_90 takes 4.0 times its ideal "
    "(global.excess_sectors is 300, global.sectors_ideal 100), and no budget names it";

TEST(UnjudgedExcess, IsALineOfTheText) {
  const Outcome outcome = outcome_of(two_cases(Verdict::unbudgeted));
  EXPECT_THAT(terminal_text(outcome, false), HasSubstr(std::string("\n") + kText + "\n"));
  EXPECT_THAT(markdown_text(outcome), HasSubstr("takes 4.0 times its ideal"));
}

TEST(UnjudgedExcess, IsAMemberOfTheResults) {
  const Outcome outcome = outcome_of(two_cases(Verdict::unbudgeted));
  const auto excess = results_json(outcome, false).at("unjudged_excess");
  EXPECT_EQ(excess.at("case"), "transpose.naive.f32@64x64");
  EXPECT_EQ(excess.at("value"), 300);
  EXPECT_EQ(excess.at("ideal"), 100);
  EXPECT_EQ(excess.at("text"), kText);
}

TEST(UnjudgedExcess, IsLeftOutIfABudgetJudgesIt) {
  for (const Verdict verdict : {Verdict::pass, Verdict::fail, Verdict::waived}) {
    const Outcome outcome = outcome_of(two_cases(verdict));
    EXPECT_THAT(terminal_text(outcome, false), Not(HasSubstr("Not judged")));
    EXPECT_FALSE(results_json(outcome, false).contains("unjudged_excess"));
  }
}

TEST(UnjudgedExcess, IsTheLargestInProportionToItsIdeal) {
  std::vector<Fact> facts = two_cases(Verdict::unbudgeted);
  facts.push_back(counted("global.excess_sectors", 4000, Verdict::unbudgeted, "wide"));
  facts.push_back(counted("global.sectors_ideal", 4000, Verdict::unbudgeted, "wide"));
  facts.push_back(counted("shared.bank_conflicts", 31, Verdict::unbudgeted, "strided"));
  facts.push_back(counted("shared.wavefronts_ideal", 1, Verdict::unbudgeted, "strided"));
  facts.push_back(counted("global.excess_sectors", 9000, Verdict::unbudgeted, "no_ideal"));
  const Outcome outcome = outcome_of(facts);
  const auto worst = worst_unjudged_excess(outcome.values());
  ASSERT_TRUE(worst);
  EXPECT_EQ(worst->fact->id.variant, "strided");
  EXPECT_DOUBLE_EQ(worst->ratio(), 32);
}

}  // namespace
}  // namespace warpgauge::outcome::unjudged_excess_test
