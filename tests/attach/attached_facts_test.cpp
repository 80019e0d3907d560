// The facts of what attached processes have counted.
#include "harness/attach/attached_facts.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "metrics/machine_code/fat_binary.h"
#include "tests/attach/attached_processes.h"

namespace warpgauge::attached_facts_test {
namespace {

using metrics::SassMetric;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::Field;
using ::testing::Ne;

/// A folder in which this image is the machine code that ran.
std::filesystem::path folder_with(const std::string& name, const std::string& image) {
  const auto folder = std::filesystem::path(testing::TempDir()) / name;
  std::filesystem::create_directories(folder);
  std::ofstream(folder / attach::cubin_name(kCubin), std::ios::binary) << image;
  return folder;
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(AttachedFacts, AreOfOneCaseForEachKernel) {
  const auto cases = cases_of({process_of(5), process_of(2, 8)});
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].kernel, "void by_columns<32>(int*, int const*)");
  EXPECT_EQ(cases[0].id.family, "my_program");
  EXPECT_EQ(cases[0].id.variant, "by_columns");
  EXPECT_EQ(cases[0].id.size, "run");
}

TEST(AttachedFacts, AddUpAllLaunchesOfAllProcesses) {
  const programs::ProgramCase program_case = cases_of({process_of(5), process_of(2, 8)}).at(0);
  EXPECT_EQ(program_case.launches, 7u);
  EXPECT_EQ(program_case.counted, 7u);
  EXPECT_EQ(value_of(program_case, "shared.bank_conflicts"), 7 * 32 * 31);
  EXPECT_EQ(value_of(program_case, "shared.bank_ways"), 32);
  EXPECT_EQ(value_of(program_case, "global.store.sectors"), 7 * 128);
  EXPECT_EQ(value_of(program_case, "global.excess_sectors"), 0);
}

TEST(AttachedFacts, HaveTheResourcesOfTheKernel) {
  const programs::ProgramCase program_case = cases_of({process_of(5)}).at(0);
  EXPECT_EQ(value_of(program_case, "registers"), 14);
  EXPECT_EQ(value_of(program_case, "shared.static_bytes"), 4096);
  EXPECT_THAT(program_case.facts, Each(Field(&metrics::Fact::metric, Ne("spill.store_bytes"))))
      << "the driver says only how much local memory a kernel uses";
}

TEST(AttachedFacts, NameTheKernelItsShapesAndTheGpu) {
  const programs::ProgramCase program_case = cases_of({process_of(5), process_of(2, 8)}).at(0);
  for (const metrics::Fact& fact : program_case.facts) {
    EXPECT_EQ(fact.arch, "sm_90");
    EXPECT_EQ(fact.kernel, kKernel);
    EXPECT_EQ(fact.context->kind, metrics::CaseKind::attached);
    EXPECT_EQ(fact.context->device, "NVIDIA H100");
    ASSERT_EQ(fact.context->kernels.size(), 1u);
    EXPECT_EQ(fact.context->kernels[0].launches.size(), 2u) << "there are two shapes";
  }
}

TEST(AttachedFacts, HaveTheOccupancyOfTheOnlyShape) {
  const programs::ProgramCase program_case = cases_of({process_of(5)}).at(0);
  EXPECT_EQ(program_case.facts.at(0).context->kernels.at(0).launches.at(0).count, 5u);
  EXPECT_EQ(value_of(program_case, "occupancy.theoretical"), 1.0);
}

TEST(AttachedFacts, GiveAReasonInsteadOfCountsIfNothingWasCounted) {
  attach::AttachedProcess process = process_of(5);
  process.records.clear();
  const auto cases = cases_of({process});
  const auto conflicts =
      std::ranges::find(cases.at(0).facts, "shared.bank_conflicts", &metrics::Fact::metric);
  ASSERT_NE(conflicts, cases.at(0).facts.end());
  EXPECT_TRUE(std::holds_alternative<std::monostate>(conflicts->value));
  EXPECT_EQ(conflicts->reason, "nothing was counted of this kernel");
}

TEST(AttachedFacts, AreApartForEachModelOfGpu) {
  attach::AttachedProcess process = process_of(5);
  process.devices[1] = {{.name = "NVIDIA L4", .chip = "AD104", .compute_capability = "8.9"}, 1536};
  process.kernels.push_back(process.kernels[0]);
  process.kernels.back().device = 1;
  process.records[1] = process.records[0];
  const auto cases = cases_of({process});
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0].id, cases[1].id);
  EXPECT_NE(cases[0].facts[0].arch, cases[1].facts[0].arch);
}

TEST(AttachedFacts, HaveTheOccupancyOfWholeClusters) {
  // The driver says that 128 of 132 multiprocessors have a block of 12 warps.
  constexpr double kWarps = 12, kMostWarps = 64, kUsed = 128. / 132;
  attach::AttachedProcess process = process_of(1);
  attach::AttachedKernel& kernel = process.kernels.at(0);
  kernel.counted.at(0).cluster = {8, 1, 1};
  kernel.resources.at(0).resident_warps = kWarps * kUsed;
  const programs::ProgramCase program_case = cases_of({process}).at(0);
  EXPECT_EQ(value_of(program_case, "cluster.blocks"), 8);
  EXPECT_DOUBLE_EQ(value_of(program_case, "occupancy.theoretical"), kWarps / kMostWarps * kUsed);
}

TEST(AttachedFacts, HaveTheClustersThatAreCompiledIn) {
  attach::AttachedProcess process = process_of(1);
  EXPECT_EQ(value_of(cases_of({process}).at(0), "cluster.blocks"), 1);
  process.kernels.at(0).resources.at(0).compiled_cluster = {4, 2, 1};
  const programs::ProgramCase program_case = cases_of({process}).at(0);
  EXPECT_EQ(value_of(program_case, "cluster.blocks"), 8);
  EXPECT_EQ(program_case.facts.at(0).context->kernels.at(0).launches.at(0).cluster,
            (std::array<std::uint32_t, 3>{4, 2, 1}));
}

TEST(AttachedFacts, HaveTheRegistersAfterSetmaxnregFromTheCodeThatRan) {
  const auto folder = folder_with("warpgauge_attached_registers",
                                  bytes_of(WARPGAUGE_TEST_DATA "/cubin/hopper.sm_90a.cubin"));
  attach::AttachedProcess process = process_of(1);
  const std::string kernel = "_Z11specialisedPf";
  process.kernels.at(0).name = kernel;
  metrics::SassValues values_at_0;
  values_at_0[SassMetric::instructions] = 12;
  process.records[0] = {{{kCubin, kernel, 0}, values_at_0}};
  const auto values = attach::attached_kernels({process}, folder).at(0).compiled.values;
  EXPECT_EQ(values.at("registers.least"), 40);
  EXPECT_EQ(values.at("registers.most"), 232);
  EXPECT_FALSE(attach::attached_kernels({process}, testing::TempDir() + "none")
                   .at(0)
                   .compiled.values.contains("registers.least"))
      << "without the code they are not known";
}

/// The case of a kernel with these counts at one more instruction.
programs::ProgramCase case_with(const metrics::SassValues& values) {
  attach::AttachedProcess process = process_of(1);
  process.records[0][{kCubin, kKernel, 0xc0}] = values;
  return cases_of({process}).at(0);
}

programs::ProgramCase case_with_bulk_copies() {
  metrics::SassValues copies;
  copies[SassMetric::instructions] = 11;
  copies[SassMetric::bulk_loads] = 8;
  copies[SassMetric::bulk_reductions] = 3;
  return case_with(copies);
}

TEST(AttachedFacts, HaveBulkCopiesByKind) {
  const programs::ProgramCase program_case = case_with_bulk_copies();
  EXPECT_EQ(value_of(program_case, "bulk.load.instructions"), 8);
  EXPECT_EQ(value_of(program_case, "bulk.store.instructions"), 3);
  EXPECT_EQ(value_of(program_case, "cluster.requests"), 0);
  EXPECT_THAT(program_case.facts, Each(Field(&metrics::Fact::metric, Ne("bulk.load.bytes"))))
      << "no GPU counts them";
}

TEST(AttachedFacts, SayHowManyBulkCopiesTheSectorsLeaveOut) {
  const programs::ProgramCase program_case = case_with_bulk_copies();
  EXPECT_EQ(value_of(program_case, "global.load.sectors"), 0);
  EXPECT_EQ(value_of(program_case, "global.store.sectors"), 128);
  for (const metrics::Fact& fact : program_case.facts) {
    if (fact.scope != metrics::Scope::whole_case) continue;
    EXPECT_THAT(fact.confidence, AnyOf("", "exact")) << fact.metric;
    if (fact.metric == "global.load.sectors") {
      EXPECT_EQ(fact.leaves_out, 8u);
    } else if (fact.metric == "global.store.sectors") {
      EXPECT_EQ(fact.leaves_out, 3u);
    }
  }
}

TEST(AttachedFacts, HaveTheWavefrontsOfWgmma) {
  metrics::SassValues product;
  product[SassMetric::instructions] = product[SassMetric::wgmmas] = 16;
  product[SassMetric::shared_wavefronts] = product[SassMetric::shared_wavefronts_ideal] = 128;
  const programs::ProgramCase program_case = case_with(product);
  EXPECT_EQ(value_of(program_case, "wgmma.instructions"), 16);
  EXPECT_EQ(value_of(program_case, "wgmma.wavefronts"), 128);
}

/// The cases of a program on a GPU of compute capability 10.0 that ran code for sm_100a.
std::vector<programs::ProgramCase> cases_of_sm_100a(const std::string& budgets) {
  const std::string bytes = bytes_of(WARPGAUGE_TEST_DATA "/fat_binary/none.fatbin");
  const auto entries = metrics::read_fat_binary(std::as_bytes(std::span(bytes)));
  const auto entry = std::ranges::find(entries, "sm_100a", &metrics::FatBinaryEntry::arch);
  if (entry == entries.end()) throw std::logic_error("none.fatbin has no code for sm_100a");
  const std::vector<std::byte> image = entry->unpack();
  const auto folder = folder_with("warpgauge_attached_arch",
                                  {reinterpret_cast<const char*>(image.data()), image.size()});
  attach::AttachedProcess process = process_of(1);
  process.devices[0].device.compute_capability = "10.0";
  const std::string path = testing::TempDir() + "attached_arch.toml";
  std::ofstream(path) << budgets;
  return programs::cases_of(attach::kCounter, "program",
                            attach::attached_kernels({process}, folder),
                            metrics::Budgets::load_unregistered(path));
}

TEST(AttachedFacts, AreOfTheArchitectureOfTheCodeThatRan) {
  const auto cases = cases_of_sm_100a("");
  ASSERT_EQ(cases.size(), 1u);
  for (const metrics::Fact& fact : cases[0].facts) EXPECT_EQ(fact.arch, "sm_100a");
}

TEST(AttachedFacts, HaveTheBudgetsOfTheArchitectureOfTheCodeThatRan) {
  const auto cases =
      cases_of_sm_100a("[default.sm_100]\nregisters = 1\n[default.sm_100a]\nregisters = 99\n");
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].budgets.find(cases[0].id, cases[0].facts[0].arch, "registers")->str(),
            "<= 99");
}

}  // namespace
}  // namespace warpgauge::attached_facts_test
