// The two forms of a test's budget: lines, or the id of a case.
#include "harness/measure/measured_budgets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace warpgauge::measured_budgets_test {
namespace {

using metrics::CaseId;
using testing::HasSubstr;

const CaseId kHere = {"measured", "here", "launch", "1"};

std::string error_of(const std::string& budget) {
  try {
    budgets_of(budget, kHere);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

TEST(MeasuredBudgets, LinesAreOfTheLaunchItself) {
  const auto [id, budgets] =
      budgets_of("shared.wavefronts = { max = 7, reason = \"as me@here.example said\" }", kHere);
  EXPECT_EQ(id, kHere);
  EXPECT_EQ(budgets.find(id, "sm_90", "shared.wavefronts")->str(), "<= 7");
  EXPECT_EQ(error_of("# as me@here.example said"), "no error");
}

TEST(MeasuredBudgets, AnIdIsOfACaseOfThisProgram) {
  const auto [id, budgets] = budgets_of("canaries.padding_removed.f32@1024", kHere);
  EXPECT_EQ(id.str(), "canaries.padding_removed.f32@1024");
  EXPECT_EQ(budgets.find(id, "sm_90", "occupancy.theoretical")->str(), ">= 0.5");
}

TEST(MeasuredBudgets, AnUnknownIdIsRefused) {
  EXPECT_THAT(error_of("canaries.no_such.f32@32"), HasSubstr("no case is called"));
  EXPECT_THAT(error_of("no_family.here.f32@32"), HasSubstr("BUDGETS <folder>"));
  EXPECT_THAT(error_of("canaries@32"), HasSubstr("neither an id"));
  EXPECT_THAT(error_of("a.b@32.f32"), HasSubstr("neither an id"));
}

}  // namespace
}  // namespace warpgauge::measured_budgets_test
