// Names of architectures: what is one, their order, and which code runs where.
#include "metrics/architecture/arch_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace warpgauge::metrics::arch_name_test {
namespace {

using Names = std::vector<std::string>;

ArchName arch(std::string_view name) { return ArchName::parse(name).value(); }

TEST(ArchName, ComesBackAsItWasRead) {
  for (const char* name : {"sm_75", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_103f"}) {
    EXPECT_EQ(arch(name).str(), name);
  }
  EXPECT_EQ(arch("sm_90a"), (ArchName{.number = 90, .suffix = 'a'}));
  EXPECT_NE(arch("sm_90a"), arch("sm_90"));
}

TEST(ArchName, NothingElseIsOne) {
  for (const char* text :
       {"", "sm_", "sm_a", "sm_9", "sm_090", "sm_-90", "sm_+90", "sm_1000", "sm_90b", "sm_90aa",
        "sm_90A", "SM_90", "sm90", "90", "compute_90", " sm_90", "sm_90 ", "sm_99999999999999"}) {
    EXPECT_FALSE(ArchName::parse(text)) << text;
  }
}

TEST(ArchName, AreSortedByNumberAndThenBySuffix) {
  Names names = {"sm_100f", "sm_90a", "sm_100", "what", "sm_75", "sm_100a", "sm_90"};
  std::ranges::sort(names, {}, arch_order);
  EXPECT_THAT(names, testing::ElementsAre("what", "sm_75", "sm_90", "sm_90a", "sm_100", "sm_100a",
                                          "sm_100f"));
}

// CUDA Programming Guide 13, "Compute Capabilities": compatibility of cubins and of PTX, and of
// code for one chip and for a family.
TEST(ArchName, MachineCodeRunsOnLaterChipsOfTheMajorVersion) {
  EXPECT_TRUE(arch("sm_80").machine_code_runs_on(86));
  EXPECT_FALSE(arch("sm_86").machine_code_runs_on(80));
  EXPECT_FALSE(arch("sm_90").machine_code_runs_on(100));
  EXPECT_TRUE(arch("sm_100f").machine_code_runs_on(103));
  EXPECT_FALSE(arch("sm_103f").machine_code_runs_on(100));
  EXPECT_TRUE(arch("sm_100a").machine_code_runs_on(100));
  EXPECT_FALSE(arch("sm_100a").machine_code_runs_on(103));
}

TEST(ArchName, PtxIsCompiledForLaterChipsUnlessItIsForOneOrAFamily) {
  EXPECT_TRUE(arch("sm_90").ptx_compiles_for(120));
  EXPECT_FALSE(arch("sm_90").ptx_compiles_for(89));
  EXPECT_FALSE(arch("sm_90a").ptx_compiles_for(100));
  EXPECT_TRUE(arch("sm_100f").ptx_compiles_for(103));
  EXPECT_FALSE(arch("sm_100f").ptx_compiles_for(110));
}

TEST(RunningCode, IsTheMostSpecialOfTheHighestNumber) {
  EXPECT_EQ(running_code(Names{"sm_90", "sm_90a"}, 90), "sm_90a");
  EXPECT_EQ(running_code(Names{"sm_90a", "sm_90"}, 90), "sm_90a");
  EXPECT_EQ(running_code(Names{"sm_100", "sm_100a", "sm_100f"}, 100), "sm_100a");
  EXPECT_EQ(running_code(Names{"sm_100", "sm_100a", "sm_100f"}, 103), "sm_100f");
  EXPECT_EQ(running_code(Names{"sm_80", "sm_86", "sm_90"}, 89), "sm_86");
  EXPECT_EQ(running_code(Names{"sm_75", "sm_120"}, 90), "") << "the driver compiles PTX";
  EXPECT_EQ(running_code(Names{"what"}, 90), "");
}

}  // namespace
}  // namespace warpgauge::metrics::arch_name_test
