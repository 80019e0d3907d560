// CUPTI's answers without a GPU: chips, and the metrics that they can count.
#include <gmock/gmock.h>

#include <map>
#include <set>
#include <string>

#include "metrics/catalog.h"
#include "metrics/cupti.h"

namespace warpgauge::metrics {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CuptiHost : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!built_with_cupti()) GTEST_SKIP() << "this build has no CUPTI";
  }
};

std::set<std::string> lacking(const ChipSupport& support) {
  std::set<std::string> names;
  for (const auto& [name, has] : support.names) {
    if (!has) names.insert(name);
  }
  return names;
}

TEST_F(CuptiHost, ListsTheChips) {
  const auto chips = cupti_chips();
  for (const char* chip : {"TU102", "GA100", "GA102", "AD102", "GH100", "GB100", "GB202"}) {
    EXPECT_THAT(chips, Contains(chip));
  }
}

TEST_F(CuptiHost, HopperLacksNothing) {
  const ChipSupport support = chip_support("GH100");
  EXPECT_THAT(lacking(support), IsEmpty());
  EXPECT_GE(support.range_passes, 1u);
  const std::size_t names = cupti_names(Source::sass).size() + cupti_names(Source::range).size();
  EXPECT_EQ(support.names.size(), names);
}

TEST_F(CuptiHost, EveryMetricIsMeasuredOnTheChipsOfGraphicsCardsSinceTuring) {
  for (const char* chip : {"TU102", "GA100", "GA102", "AD102", "GH100", "GB100", "GB202"}) {
    const ChipSupport support = chip_support(chip);
    for (const Metric& metric : catalog()) {
      if (!is_run_time(metric)) continue;
      EXPECT_TRUE(support.measures(metric)) << chip << ": " << metric.id;
    }
  }
}

// The whole list of holes, so that a CUPTI that changes it is noticed.
TEST_F(CuptiHost, HolesAreTheKnownOnes) {
  const std::set<std::string> no_async_copy = {"smsp__sass_inst_executed_op_ldgsts"};
  const std::set<std::string> no_dram = {"dram__bytes.sum",
                                         "dram__throughput.avg.pct_of_peak_sustained_elapsed"};
  for (const std::string& chip : cupti_chips()) {
    const ChipSupport support = chip_support(chip);
    EXPECT_EQ(support.range_passes > 0, chip != "GV11B") << chip;
    if (chip.starts_with("GV")) {  // Volta has no SASS metrics in the form used here
      EXPECT_FALSE(support.measures(metric("shared.bank_conflicts"))) << chip;
    } else if (chip.starts_with("TU")) {
      EXPECT_EQ(lacking(support), no_async_copy) << chip;
    } else if (chip.ends_with("0B")) {  // integrated: shares the memory of the CPU
      EXPECT_EQ(lacking(support), no_dram) << chip;
    } else {
      EXPECT_THAT(lacking(support), IsEmpty()) << chip;
    }
  }
}

TEST_F(CuptiHost, UnknownChipNamesTheNearest) {
  const auto message_for = [](const std::string& chip) -> std::string {
    try {
      chip_support(chip);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "nothing thrown";
  };
  EXPECT_EQ(message_for("GH10"), "CUPTI has no chip 'GH10', did you mean 'GH100'?");
  EXPECT_EQ(message_for("gh100"), "CUPTI has no chip 'gh100', did you mean 'GH100'?");
  EXPECT_EQ(message_for("turbo"), "CUPTI has no chip 'turbo'");
  EXPECT_THAT(message_for(""), HasSubstr("has no chip ''"));
}

TEST_F(CuptiHost, SaysNothingOnItsOwn) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  chip_support("GH100");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

// With a GPU all of this works; without one it must say why and what to do, and not crash.
TEST_F(CuptiHost, WithoutAGpuMeasuringIsRefusedWithAReason) {
  try {
    current_chip();
    GTEST_SKIP() << "there is a GPU";
  } catch (const Unmeasured& error) {
    if (!std::string_view(error.what()).starts_with("no usable GPU")) GTEST_SKIP() << error.what();
    EXPECT_THAT(error.what(), HasSubstr("cudaError"));
  }
  EXPECT_THROW(SassCounter(), Unmeasured);
  EXPECT_THROW(RangeProfiler(), Unmeasured);
}

}  // namespace
}  // namespace warpgauge::metrics
