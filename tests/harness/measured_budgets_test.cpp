// The two forms of a test's budget: lines, or the id of a case.
#include "harness/measure/measured_budgets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "harness/files/temporary_path.h"

namespace warpgauge::measured_budgets_test {
namespace {

using metrics::CaseId;
using testing::HasSubstr;

const CaseId kId = {"Some/Suite", "here", "launch", "1"};

Case launch_here() {
  Case launch;
  launch.id = kId;
  launch.file = "tests/harness/measured_budgets_test.cpp";
  return launch;
}
const Case kHere = launch_here();

std::string error_of(const std::string& budget) {
  try {
    budgets_of(budget, kHere);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

TEST(MeasuredBudgets, LinesAreOfTheLaunchItself) {
  const auto [id, budgets, from] =
      budgets_of("shared.wavefronts = { max = 7, reason = \"as me@here.example said\" }", kHere);
  EXPECT_EQ(id, kId);
  EXPECT_EQ(budgets.find(id, "sm_90", "shared.wavefronts")->str(), "<= 7");
  EXPECT_EQ(from, "the test, and below it tests/harness/Some_Suite.test.toml (not there)");
  EXPECT_EQ(error_of("# as me@here.example said"), "no error");
}

TEST(MeasuredBudgets, AnIdIsOfACaseOfThisProgram) {
  const auto [id, budgets, from] = budgets_of("canaries.padding_removed.f32@1024", kHere);
  EXPECT_EQ(id.str(), "canaries.padding_removed.f32@1024");
  EXPECT_EQ(from, "tests/canaries/budgets.toml");
  EXPECT_EQ(budgets.find(id, "sm_90", "occupancy.theoretical")->str(), ">= 0.5");
}

TEST(MeasuredBudgets, WhatWasAcceptedLiesBesideTheTestAndHoldsBelowItsLines) {
  const auto folder = files::TemporaryPath::folder_in(std::filesystem::temp_directory_path(),
                                                      "warpgauge_measured_budgets");
  Case launch = kHere;
  launch.file = (folder.path() / "a_test.cpp").string();
  std::ofstream(folder.path() / "Some_Suite.test.toml")
      << "[\"here.launch\"]\nregisters = 40\n\"shared.wavefronts\" = 9\n";
  const auto [id, budgets, from] = budgets_of("registers = 32", launch);
  EXPECT_EQ(budgets.find(id, "sm_90", "registers")->str(), "<= 32");
  EXPECT_EQ(budgets.find(id, "sm_90", "shared.wavefronts")->str(), "<= 9");
  EXPECT_EQ(from, "the test, and below it " + (folder.path() / "Some_Suite.test.toml").string());
}

TEST(MeasuredBudgets, AnUnknownIdIsRefused) {
  EXPECT_THAT(error_of("canaries.no_such.f32@32"), HasSubstr("no case is called"));
  EXPECT_THAT(error_of("no_family.here.f32@32"), HasSubstr("BUDGETS <folder>"));
  EXPECT_THAT(error_of("canaries@32"), HasSubstr("neither an id"));
  EXPECT_THAT(error_of("a.b@32.f32"), HasSubstr("neither an id"));
}

}  // namespace
}  // namespace warpgauge::measured_budgets_test
