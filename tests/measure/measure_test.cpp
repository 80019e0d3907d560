// warpgauge::measure() and EXPECT_BUDGET, on a GPU and on the emulator.
#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <nvtx3/nvToolsExt.h>

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

TEST_F(Measure, ThrowsForMetricsThatItDoesNotMeasure) {
  const Measurement cost = warpgauge::measure([] { copy_tile(1, true); });
  EXPECT_THAT(error_of([&] { cost["time.median_us"]; }),
              HasSubstr("counts and compile-time values only"));
  EXPECT_THAT(error_of([&] { cost["counter.sm__inst_executed.sum"]; }),
              HasSubstr("counts and compile-time values only"));
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
  EXPECT_BUDGET([] { copy_tile(32, true); }, "");
  EXPECT_BUDGET([] { copy_tile(32, true); },
                "shared.wavefronts = { equal = 64 }\n\"registers\" = 64");
  EXPECT_BUDGET(
      [] { copy_tile(32, false); },
      "shared.bank_conflicts = { equal = 992, reason = \"31 more in each of 32 reads\" }");
  EXPECT_BUDGET([] { copy_tile(32, true); }, "shared.wavefronts = { max = 1, of = \"ideal\" }");
}

TEST_F(Measure, ALambdaMayHaveCommas) {
  int warps = 1, launches = 0;
  EXPECT_BUDGET([&warps, &launches] { copy_tile(warps, ++launches > 0); }, "");
  ASSERT_BUDGET([&warps, &launches] { copy_tile(warps, ++launches > 0); }, "");
  EXPECT_EQ(launches, 2) << "each was launched once";
}

TEST_F(Measure, FailsWhatIsOverBudget) {
  const auto conflicts = [] { copy_tile(32, false); };
  EXPECT_NONFATAL_FAILURE(EXPECT_BUDGET(conflicts, ""), "shared.bank_conflicts");
  EXPECT_NONFATAL_FAILURE(EXPECT_BUDGET(conflicts, "") << "appended", "appended");
  EXPECT_NONFATAL_FAILURE(EXPECT_BUDGET(conflicts, "shared.wavefronts = 1055"), "1056");
  EXPECT_NONFATAL_FAILURE(EXPECT_BUDGET(conflicts, "shared.bank_conflicts = 992"), "must say why");
  EXPECT_THAT(warpgauge::over_budget(conflicts, "registers = 1"), HasSubstr("registers"));
  EXPECT_THAT(warpgauge::over_budget(conflicts, "shared.wavefronts = { max = 2, of = \"ideal\" }"),
              HasSubstr("budget   <= 2 x 64 of ideal"));
}

TEST_F(Measure, FailsWhatCannotBeJudged) {
  const auto fine = [] { copy_tile(1, true); };
  EXPECT_NONFATAL_FAILURE(EXPECT_BUDGET(fine, "time.median_us = { max = 5, tolerance = \"5%\" }"),
                          "counts and compile-time values only");
  EXPECT_NONFATAL_FAILURE(
      EXPECT_BUDGET(fine, "counter.sm__inst_executed.sum = { max = 5, tolerance = \"5%\" }"),
      "counts and compile-time values only");
  EXPECT_NONFATAL_FAILURE(EXPECT_BUDGET(fine, "no.such.metric = 0"), "unknown metric");
  EXPECT_NONFATAL_FAILURE(EXPECT_BUDGET(fine, "registers"), "budget:2");
  EXPECT_BUDGET(fine, "gate_on = \"estimate\"\nshared.bank_conflicts = 0");
  EXPECT_NONFATAL_FAILURE(EXPECT_BUDGET(fine, "gate_on = \"guess\"\nregisters = 1"), "budget:1:11");
  EXPECT_NONFATAL_FAILURE(EXPECT_BUDGET(measured::nothing, ""), "no kernel was launched");
}

TEST_F(Measure, AnEstimateIsListedAndNotHeldAgainstABudget) {
  const auto fine = [] { copy_tile(1, true); };
  bool is_exact = true;
  try {
    warpgauge::measure(fine)["instructions"];
  } catch (const NotMeasured& estimated) {
    EXPECT_THAT(estimated.what(), HasSubstr("estimate"));
    is_exact = false;
  }
  testing::internal::CaptureStdout();
  const std::string text = warpgauge::over_budget(fine, "instructions = 1");
  const std::string listed = testing::internal::GetCapturedStdout();
  EXPECT_EQ(text.empty(), !is_exact) << text;
  EXPECT_EQ(listed.find("not judged: Measure.AnEstimateIsListedAndNotHeldAgainstABudget.launch@2: "
                        "instructions: ") == 0,
            !is_exact)
      << listed;
}

TEST_F(Measure, IsNamedAfterItsTest) {
  const std::string text = warpgauge::over_budget([] { copy_tile(32, false); }, "");
  EXPECT_THAT(text, StartsWith("FAIL Measure.IsNamedAfterItsTest.launch@1 on sm_"));
  EXPECT_THAT(text, HasSubstr(" --gtest_filter=Measure.IsNamedAfterItsTest\n"));
}

class MeasureEach : public testing::TestWithParam<int> {};
TEST_P(MeasureEach, IsNamedToo) {
  if (!warpgauge::why_nothing_is_measured().empty()) GTEST_SKIP();
  const std::string text = warpgauge::over_budget([] { copy_tile(32, false); }, "");
  EXPECT_THAT(text, StartsWith("FAIL Some/MeasureEach.IsNamedToo/0.launch@1 on sm_"));
  EXPECT_THAT(text, HasSubstr(" --gtest_filter=Some/MeasureEach.IsNamedToo/0\n"));
}
INSTANTIATE_TEST_SUITE_P(Some, MeasureEach, testing::Values(1));

TEST_F(Measure, AnIdMeansTheBudgetsOfItsFile) {
  const auto conflicts = [] { copy_tile(32, false); };
  EXPECT_BUDGET(conflicts, "tile.by_columns.s32@32");
  EXPECT_BUDGET([] { copy_tile(32, true); }, "tile.padded.s32@32");
  EXPECT_NONFATAL_FAILURE(EXPECT_BUDGET(conflicts, "tile.padded.s32@32"),
                          "FAIL tile.padded.s32@32 on sm_");
  EXPECT_NONFATAL_FAILURE(EXPECT_BUDGET(conflicts, "tile.by_columns.s32@8"),
                          "budgets/tile.toml has no section for it, did you mean");
  EXPECT_NONFATAL_FAILURE(EXPECT_BUDGET(conflicts, "tiles.by_columns.s32@32"),
                          "budgets/tiles.toml, did you mean 'tile'?");
  EXPECT_NONFATAL_FAILURE(EXPECT_BUDGET(conflicts, "by_columns@32"), "neither an id");
}

/// The name that measure() gives to launches inside of ranges.
std::string name_here() {
  return warpgauge::measure([] { copy_tile(1, true); }).name();
}

TEST_F(Measure, NvtxRangesNameWhatIsMeasured) {
  EXPECT_EQ(name_here(), "");
  nvtxRangePushA("outer");
  EXPECT_EQ(name_here(), "outer");

  const nvtxDomainHandle_t domain = nvtxDomainCreateA("mine");
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(domain, "inner");
  EXPECT_EQ(nvtxDomainRangePushEx(domain, &event), 0) << "the level in its domain";
  EXPECT_EQ(name_here(), "outer/inner");
  EXPECT_THAT(warpgauge::measure([] { copy_tile(1, true); }).str(),
              StartsWith("in outer/inner:\n"));
  EXPECT_NONFATAL_FAILURE(EXPECT_BUDGET([] { copy_tile(1, true); }, "registers = 1"),
                          "in outer/inner:\nFAIL");
  EXPECT_EQ(nvtxRangePop(), 0) << "of the default domain, which has been pushed before";
  EXPECT_EQ(name_here(), "inner");
  nvtxDomainRangePop(domain);
  EXPECT_EQ(name_here(), "");

  nvtxRangePushW(L"wide");
  EXPECT_EQ(name_here(), "wide");
  nvtxRangePop();
  EXPECT_LT(nvtxRangePop(), 0) << "nothing is open";
}

}  // namespace
