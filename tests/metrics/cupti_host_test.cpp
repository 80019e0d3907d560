// CUPTI's answers without a GPU: chips, and the metrics that they can count.
#include <gmock/gmock.h>

#include <map>
#include <set>
#include <string>

#include "metrics/budgets/budget.h"
#include "metrics/cupti/cupti.h"
#include "metrics/facts/catalog.h"

namespace warpgauge::metrics::cupti_host_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class CuptiHost : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!built_with_cupti()) GTEST_SKIP() << "this build has no CUPTI";
    if (!cupti_answers()) GTEST_SKIP() << "this CUPTI needs an NVIDIA driver";
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

TEST_F(CuptiHost, UnknownCountersSayWhatWasMeant) {
  EXPECT_EQ(unknown_counter("sm__inst_executed_pipe_tensor.sum"), "");
  EXPECT_EQ(unknown_counter("sm__inst_executed.sum.per_second"), "");
  EXPECT_EQ(unknown_counter("sm__inst_executed_pipe_tensr.sum"),
            "no chip has a counter 'sm__inst_executed_pipe_tensr', did you mean "
            "'sm__inst_executed_pipe_tensor.sum'?");
  EXPECT_EQ(unknown_counter("sm__inst_executed.sun"),
            "counter 'sm__inst_executed' has no rollup 'sun', did you mean 'sum'?");
  EXPECT_EQ(unknown_counter("gpu__nothing_of_that_kind_at_all.sum").find('?'), std::string::npos);
}

TEST_F(CuptiHost, ABudgetForACounterThatNoChipHasIsRefused) {
  const std::string text =
      "[default]\n\"counter.sm__inst_executd.sum\" = { max = 1, tolerance = 0.1 }";
  try {
    Budgets::parse(text, "budgets.toml", {});
    ADD_FAILURE() << "it was taken";
  } catch (const BudgetError& error) {
    EXPECT_THAT(error.what(), HasSubstr("budgets.toml:2:1: no chip has a counter "
                                        "'sm__inst_executd', did you mean "
                                        "'sm__inst_executed.sum'?"));
  }
}

TEST_F(CuptiHost, CountersShareThePassesOfTheCatalogsOwn) {
  const std::vector<const Metric*> bytes = {find_metric("counter.dram__bytes.sum")};
  const std::size_t own = chip_support("GH100").range_passes;
  EXPECT_EQ(chip_support("GH100", bytes).range_passes, own);  // dram.bytes is made of it
  std::vector<const Metric*> ten;
  std::size_t one_by_one = 0;
  for (const char* name :
       {"smsp__inst_executed.sum", "sm__inst_executed_pipe_tensor.sum", "sm__warps_launched.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "smsp__thread_inst_executed.sum",
        "lts__t_sectors.sum", "sm__cycles_active.avg", "gpc__cycles_elapsed.max"}) {
    ten.push_back(find_metric(std::string("counter.") + name));
    ASSERT_NE(ten.back(), nullptr) << name;
    EXPECT_EQ(unknown_counter(name), "");
    one_by_one += chip_support("GH100", {ten.back()}).range_passes;
  }
  const std::size_t together = chip_support("GH100", ten).range_passes;
  EXPECT_GE(together, own);
  EXPECT_LT(together, own + ten.size());
  EXPECT_LT(together, one_by_one);
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
  const std::set<std::string> async_copy = {"smsp__sass_inst_executed_op_ldgsts"};
  const std::set<std::string> since_hopper = {
      "smsp__sass_inst_executed_op_dshared", "smsp__sass_inst_executed_op_tma_ld",
      "smsp__sass_inst_executed_op_tma_red", "smsp__sass_inst_executed_op_tma_st"};
  const std::set<std::string> of_hopper = {"smsp__sass_inst_executed_op_shared_gmma"};
  const std::set<std::string> dram = {"dram__bytes.sum",
                                      "dram__throughput.avg.pct_of_peak_sustained_elapsed"};
  for (const std::string& chip : cupti_chips()) {
    const ChipSupport support = chip_support(chip);
    EXPECT_EQ(support.range_passes > 0, chip != "GV11B") << chip;
    if (chip.starts_with("GV")) {  // Volta has no SASS metrics in the form used here
      EXPECT_FALSE(support.measures(metric("shared.bank_conflicts"))) << chip;
      continue;
    }
    std::set<std::string> holes;
    if (chip.starts_with("TU")) holes.insert(async_copy.begin(), async_copy.end());
    if (chip.starts_with("TU") || chip.starts_with("GA") || chip.starts_with("AD")) {
      holes.insert(since_hopper.begin(), since_hopper.end());
    }
    if (!chip.starts_with("GH")) holes.insert(of_hopper.begin(), of_hopper.end());
    // Integrated chips share the memory of the CPU.
    if (chip.ends_with("0B")) holes.insert(dram.begin(), dram.end());
    EXPECT_EQ(lacking(support), holes) << chip;
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
  EXPECT_THAT(message_for("GH10"),
              StartsWith("CUPTI has no chip 'GH10', did you mean 'GH100'?; the chips are GV100 "));
  EXPECT_THAT(message_for("turbo"), StartsWith("CUPTI has no chip 'turbo'; the chips are GV100 "));
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
}  // namespace warpgauge::metrics::cupti_host_test
