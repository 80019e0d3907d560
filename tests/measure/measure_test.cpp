// warpgauge::measure() and EXPECT_BUDGET, on a GPU and on the emulator.
#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>

#include "tests/measure/kernels.h"
#include "warpgauge/gtest.h"

namespace {

using measured::copy_tile;
using testing::HasSubstr;
using testing::StartsWith;
using warpgauge::Measurement;
using warpgauge::NotMeasured;

class Measure : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = warpgauge::why_nothing_is_measured(); !why.empty()) {
      GTEST_SKIP() << why;
    }
  }
};

template <typename Function>
std::string error_of(const Function& function) {
  try {
    function();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(Measure, CountsWhatALaunchDoes) {
  // A warp reads 32 words of one bank: 32 wavefronts instead of 1.
  const Measurement cost = warpgauge::measure([] { copy_tile(32, false); });
  EXPECT_EQ(cost["shared.bank_conflicts"], 32 * 31);
  EXPECT_EQ(cost["shared.wavefronts"], 32 * (1 + 32));
  EXPECT_EQ(cost["global.load.sectors"], 32 * 4);
  EXPECT_EQ(cost["spill.store_bytes"], 0);
  EXPECT_THAT(cost.line("shared.bank_conflicts"), StartsWith("tests/measure/kernels.cu:"));
  EXPECT_THAT(cost.str(), HasSubstr("shared.bank_conflicts 992 wavefronts\n"));
}

TEST_F(Measure, EachTimeAnew) {
  for (const int warps : {1, 8, 32}) {
    const Measurement cost = warpgauge::measure([&] { copy_tile(warps, true); });
    EXPECT_EQ(cost["shared.bank_conflicts"], 0);
    EXPECT_EQ(cost["shared.wavefronts"], 2 * warps);
  }
}

TEST_F(Measure, AddsUpAllLaunches) {
  const Measurement cost = warpgauge::measure([] { measured::copy_twice(5); });
  EXPECT_EQ(cost["global.load.sectors"], 2 * 5 * 4);
  EXPECT_EQ(cost["global.store.sectors"], 2 * 5 * 4);
}

TEST_F(Measure, SaysWhatItCannotTell) {
  const Measurement cost = warpgauge::measure([] { copy_tile(1, true); });
  EXPECT_THAT(error_of([&] { cost["time.median_us"]; }), HasSubstr("a launch by itself"));
  EXPECT_THAT(error_of([&] { cost["occupancy.limiter"]; }), HasSubstr("it is a word"));
  EXPECT_THAT(error_of([&] { cost["shared.bank_conflict"]; }),
              HasSubstr("did you mean 'shared.bank_conflicts'"));
  EXPECT_THROW(cost["shared.bank_conflict"], std::out_of_range);
  EXPECT_THROW(warpgauge::measure(measured::nothing), NotMeasured);
}

TEST_F(Measure, HandsOnWhatFails) {
  EXPECT_THAT(error_of([] { warpgauge::measure(measured::refused); }), HasSubstr("invalid"));
  EXPECT_THROW(warpgauge::measure([] { throw std::domain_error("mine"); }), std::domain_error);
  EXPECT_EQ(warpgauge::measure([] { copy_tile(1, true); })["shared.wavefronts"], 2)
      << "and measures what comes then";
}

TEST_F(Measure, HoldsLaunchesAgainstBudgets) {
  EXPECT_BUDGET("", [] { copy_tile(32, true); });
  EXPECT_BUDGET("shared.wavefronts = { equal = 64 }\n\"registers\" = 64",
                [] { copy_tile(32, true); });
  EXPECT_BUDGET("shared.bank_conflicts = { equal = 992, reason = \"31 more in each of 32 reads\" }",
                [] { copy_tile(32, false); });
}

TEST_F(Measure, FailsWhatIsOverBudget) {
  const auto conflicts = [] { copy_tile(32, false); };
  EXPECT_NONFATAL_FAILURE(EXPECT_BUDGET("", conflicts), "shared.bank_conflicts");
  EXPECT_NONFATAL_FAILURE(EXPECT_BUDGET("", conflicts) << "told", "told");
  EXPECT_NONFATAL_FAILURE(EXPECT_BUDGET("shared.wavefronts = 1055", conflicts), "1056");
  EXPECT_NONFATAL_FAILURE(EXPECT_BUDGET("shared.bank_conflicts = 992", conflicts), "must say why");
  EXPECT_THAT(warpgauge::over_budget("registers = 1", conflicts), HasSubstr("registers"));
}

TEST_F(Measure, FailsWhatCannotBeJudged) {
  const auto fine = [] { copy_tile(1, true); };
  EXPECT_NONFATAL_FAILURE(EXPECT_BUDGET("time.median_us = { max = 5, tolerance = \"5%\" }", fine),
                          "a launch by itself");
  EXPECT_NONFATAL_FAILURE(EXPECT_BUDGET("no.such.metric = 0", fine), "unknown metric");
  EXPECT_NONFATAL_FAILURE(EXPECT_BUDGET("registers", fine), "budget:2");
  EXPECT_NONFATAL_FAILURE(EXPECT_BUDGET("", measured::nothing), "no kernel was launched");
}

}  // namespace
