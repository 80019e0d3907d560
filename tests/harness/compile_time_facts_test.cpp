// Compile-time facts of registered cases, read from the machine code of this program.
#include "harness/measuring/compile_time_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "metrics/architecture/arch_name.h"
#include "metrics/cupti/cupti.h"

namespace warpgauge::compile_time_facts_test {
namespace {

using metrics::Fact;
using testing::AllOf;
using testing::HasSubstr;

std::vector<Fact> facts_of(const std::string& pattern, const std::string& arch) {
  const Case& test_case = *Registry::instance().select({.filter = {pattern}}).at(0);
  return static_facts(test_case, dry_launches(test_case), arch);
}

Fact fact(const std::vector<Fact>& facts, std::string_view metric) {
  return *std::ranges::find(facts, metric, &Fact::metric);
}

double number(const Fact& fact) { return std::get<double>(fact.value); }

TEST(StaticFacts, OfACopyKernel) {
  for (const std::string& arch : built_archs()) {
    const auto facts = facts_of("faulty.good.*", arch);
    EXPECT_GE(number(fact(facts, "registers")), 4) << arch;
    EXPECT_EQ(number(fact(facts, "spill.store_bytes")), 0) << arch;
    EXPECT_EQ(number(fact(facts, "occupancy.theoretical")), 1) << arch;
    EXPECT_EQ(fact(facts, "registers").file, "tests/faulty/family.cu") << arch;
    const std::vector<metrics::Kernel>& kernels = fact(facts, "registers").context->kernels;
    ASSERT_EQ(kernels.size(), 1u) << arch;
    EXPECT_EQ(kernels[0].sass_hash.size(), 16u) << arch;
    EXPECT_FALSE(kernels[0].launches.empty()) << arch;
  }
}

// 8 blocks of 256 threads on each of the 132 multiprocessors of an H100.
TEST(StaticFacts, OccupancyInClustersIsAnEstimateWhereChipsDiffer) {
  const Case& test_case = *Registry::instance().select({.filter = {"faulty.good.*"}}).at(0);
  auto launches = dry_launches(test_case);
  const auto in_clusters = [&](std::uint32_t blocks) {
    launches.at(0).launch.cluster = {blocks, 1, 1};
    return static_facts(test_case, launches, "sm_90");
  };
  const auto of_two = in_clusters(2);
  EXPECT_EQ(number(fact(of_two, "cluster.blocks")), 2);
  EXPECT_EQ(number(fact(of_two, "occupancy.theoretical")), 1);
  EXPECT_EQ(fact(of_two, "occupancy.theoretical").confidence, "exact");
  const auto of_five = in_clusters(5);
  EXPECT_DOUBLE_EQ(number(fact(of_five, "occupancy.theoretical")), 1055. / 1056);
  for (const char* const metric : {"occupancy.theoretical", "occupancy.limiter"}) {
    EXPECT_EQ(fact(of_five, metric).confidence, "estimate") << metric;
    EXPECT_THAT(fact(of_five, metric).confidence_reason, HasSubstr("GPC")) << metric;
  }
  EXPECT_EQ(fact(of_five, "occupancy.limiter").value, metrics::Value("clusters"));
  EXPECT_EQ(fact(of_five, "registers").confidence, "exact");
}

TEST(StaticFacts, RegistersStayWithoutSetmaxnreg) {
  const auto facts = facts_of("faulty.good.*", "sm_90");
  EXPECT_EQ(fact(facts, "registers.least").value, fact(facts, "registers").value);
  EXPECT_EQ(fact(facts, "registers.most").value, fact(facts, "registers").value);
  EXPECT_EQ(number(fact(facts, "cluster.blocks")), 1);
}

TEST(StaticFacts, SpillsAreBlamedOnALineOfTheKernel) {
  for (const std::string& arch : built_archs()) {
    const auto facts = facts_of("faulty.spilling.*", arch);
    const Fact stores = fact(facts, "spill.store_bytes");
    EXPECT_GT(number(stores), 0) << arch;
    if (!metrics::built_with_cupti()) continue;
    EXPECT_NE(stores.line, fact(facts, "registers").line) << arch << ": not the registration";
    EXPECT_EQ(stores.file, "tests/faulty/family.cu");
  }
}

TEST(StaticFacts, AKernelWithoutMachineCodeIsAFault) {
  EXPECT_THAT(
      [] { facts_of("faulty.good.*", "sm_70"); },
      testing::ThrowsMessage<NoMachineCode>(
          AllOf(HasSubstr("faulty.good."), HasSubstr("has no machine code of its kernel "),
                HasSubstr(" for sm_70, but PTX, which the driver compiles when it runs; build the "
                          "program and its libraries for the same CUDA_ARCHITECTURES"))));
}

TEST(StaticFacts, CopiesOfAKernelMayDifferInTheConstantsOfTheirModulesAlone) {
  metrics::KernelValues first{.values = {{"registers", 10}, {"constant.bytes", 360}}};
  metrics::KernelValues second{.values = {{"registers", 10}, {"constant.bytes", 400}}};
  EXPECT_EQ(same_values({first, second}, "k", "sm_90").values, second.values);
  EXPECT_EQ(same_values({second, first}, "k", "sm_90").values, second.values);
  second.values["registers"] = 11;
  EXPECT_THAT([&] { same_values({first, second}, "k", "sm_90"); },
              testing::ThrowsMessage<NoMachineCode>(HasSubstr(
                  "several kernels k for sm_90, which differ; give one of them another name")));
}

TEST(BuiltArchs, AreInAscendingOrder) {
  const std::vector<std::string>& archs = built_archs();
  EXPECT_FALSE(archs.empty());
  EXPECT_TRUE(std::ranges::is_sorted(archs, {}, metrics::arch_order));
}

}  // namespace
}  // namespace warpgauge::compile_time_facts_test
