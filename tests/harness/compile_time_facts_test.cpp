#include "harness/measuring/compile_time_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "metrics/cupti/cupti.h"

namespace warpgauge {
namespace {

using metrics::Fact;
using testing::HasSubstr;

std::vector<Fact> facts_of(const std::string& pattern, const std::string& arch) {
  const Case& one = *Registry::instance().select({.filter = {pattern}}).at(0);
  return static_facts(one, dry_launches(one), arch, PtxasTexts::of_this_build());
}

Fact fact(const std::vector<Fact>& facts, std::string_view metric) {
  return *std::ranges::find(facts, metric, &Fact::metric);
}

double number(const Fact& fact) { return std::get<double>(fact.value); }

TEST(StaticFacts, OfACopyKernel) {
  for (const std::string& arch : PtxasTexts::of_this_build().archs()) {
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
  const Case& one = *Registry::instance().select({.filter = {"faulty.good.*"}}).at(0);
  auto launches = dry_launches(one);
  const auto in_clusters = [&](std::uint32_t blocks) {
    launches.at(0).launch.cluster = {blocks, 1, 1};
    return static_facts(one, launches, "sm_90", PtxasTexts::of_this_build());
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
  for (const std::string& arch : PtxasTexts::of_this_build().archs()) {
    const auto facts = facts_of("faulty.spilling.*", arch);
    const Fact stores = fact(facts, "spill.store_bytes");
    EXPECT_GT(number(stores), 0) << arch;
    if (!metrics::built_with_cupti()) continue;
    EXPECT_NE(stores.line, fact(facts, "registers").line) << arch << ": not the registration";
    EXPECT_EQ(stores.file, "tests/faulty/family.cu");
  }
}

TEST(StaticFacts, AKernelThatPtxasSaidNothingOfIsAFault) {
  EXPECT_THAT([] { facts_of("faulty.good.*", "sm_70"); },
              testing::ThrowsMessage<metrics::PtxasError>(
                  HasSubstr("call warpgauge_watch(TARGET) for the target that has the kernel")));
}

TEST(StaticFacts, TextsThatDisagreeOnAKernelAreAFault) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "warpgauge_two_texts";
  std::filesystem::create_directories(folder);
  const auto write =
      [&](const char* name, int registers) {
        std::ofstream(folder / name)
            << "ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
               "ptxas info    : Function properties for k\n"
               "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
               "ptxas info    : Used "
            << registers << " registers\n";
      };
  write("one.ptxas.txt", 10);
  write("two.ptxas.txt", 10);
  EXPECT_EQ(PtxasTexts({folder}).archs(), std::vector<std::string>{"sm_90"});
  write("two.ptxas.txt", 11);
  EXPECT_THROW(PtxasTexts({folder}), metrics::PtxasError);
}

TEST(StaticFacts, APipeIsNotWaitedFor) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "warpgauge_piped_texts";
  std::filesystem::create_directories(folder);
  const auto pipe = folder / "one.ptxas.txt";
  std::filesystem::remove(pipe);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT([&] { PtxasTexts({folder}); },
              testing::ThrowsMessage<metrics::PtxasError>(HasSubstr("is not a file; remove it")));
}

TEST(StaticFacts, ANumberOfAnyLengthIsAnArchitecture) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "warpgauge_long_arch";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "one.ptxas.txt")
      << "ptxas info    : Compiling entry function 'k' for 'sm_99999999999999'\n"
         "ptxas info    : Function properties for k\n"
         "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
         "ptxas info    : Used 10 registers\n";
  EXPECT_EQ(PtxasTexts({folder}).archs(), std::vector<std::string>{"sm_99999999999999"});
}

TEST(StaticFacts, ArchitecturesOfOneNumberAreKeptAndInOrder) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "warpgauge_archs";
  std::filesystem::create_directories(folder);
  std::ofstream text(folder / "one.ptxas.txt");
  for (const char* arch : {"sm_100f", "sm_90a", "sm_100", "sm_75", "sm_90", "sm_100a"}) {
    text << "ptxas info    : Compiling entry function 'k' for '" << arch
         << "'\nptxas info    : Function properties for k\n"
            "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
            "ptxas info    : Used "
         << std::string_view(arch).size() << " registers\n";
  }
  text.close();
  const PtxasTexts texts({folder});
  EXPECT_THAT(texts.archs(),
              testing::ElementsAre("sm_75", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_100f"));
  EXPECT_EQ(texts.find("k", "sm_90")->registers, 5u);
  EXPECT_EQ(texts.find("k", "sm_90a")->registers, 6u);
}

TEST(StaticFacts, NoTextsIsAFault) {
  EXPECT_THROW(PtxasTexts({"no/such/folder"}), metrics::PtxasError);
  const auto empty = std::filesystem::temp_directory_path() / "warpgauge_no_texts";
  std::filesystem::create_directories(empty);
  EXPECT_THROW(PtxasTexts({empty}), metrics::PtxasError);
}

}  // namespace
}  // namespace warpgauge
