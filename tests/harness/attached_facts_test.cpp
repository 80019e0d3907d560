// From what processes have counted to facts.
#include "harness/attach/attached_facts.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

#include "metrics/machine_code/fat_binary.h"

namespace warpgauge {
namespace {

using metrics::SassMetric;
using testing::Contains;
using testing::HasSubstr;

constexpr std::uint32_t kCubin = 0xabcdef01;
const std::string kKernel = "_Z10by_columnsILi32EEvPiPKi";

attach::AttachedProcess process_of(std::uint64_t launches, std::uint64_t blocks = 1) {
  attach::AttachedProcess process{.command = "./program",
                                  .pid = 7,
                                  .devices = {},
                                  .kernels = {},
                                  .records = {},
                                  .warnings = {}};
  process.devices[0] = {{.name = "NVIDIA H100", .chip = "GH100", .compute_capability = "9.0"},
                        2048};
  process.kernels.push_back({.name = kKernel,
                             .device = 0,
                             .launches = launches,
                             .counted = {{.grid = {static_cast<std::uint32_t>(blocks), 1, 1},
                                          .block = {32, 32, 1},
                                          .dynamic_shared_bytes = 0,
                                          .count = launches}},
                             .resources = {{.registers = 14,
                                            .shared_static_bytes = 4096,
                                            .local_bytes = 0,
                                            .resident_warps = 64}}});
  metrics::SassValues load, store;
  load[SassMetric::instructions] = 32 * launches;
  load[SassMetric::shared_requests] = 32 * launches;
  load[SassMetric::shared_wavefronts] = 32 * 32 * launches;
  load[SassMetric::shared_wavefronts_ideal] = 32 * launches;
  store[SassMetric::instructions] = 32 * launches;
  store[SassMetric::global_stores] = 32 * launches;
  store[SassMetric::global_sectors] = 128 * launches;
  store[SassMetric::global_sectors_ideal] = 128 * launches;
  process.records[0] = {{{kCubin, kKernel, 0x40}, load}, {{kCubin, kKernel, 0x80}, store}};
  return process;
}

double value_of(const programs::ProgramCase& one, std::string_view metric) {
  for (const metrics::Fact& fact : one.facts) {
    const double* number = std::get_if<double>(&fact.value);
    if (fact.metric == metric && fact.scope == metrics::Scope::whole_case && number != nullptr) {
      return *number;
    }
  }
  ADD_FAILURE() << metric << " is not there";
  return -1;
}

std::vector<programs::ProgramCase> cases_of(const std::vector<attach::AttachedProcess>& processes) {
  return programs::cases_of(attach::kCounter, "./build/my program",
                            attach::attached_kernels(processes, testing::TempDir()), {});
}

TEST(AttachedProcess, ComesBackAsItWasWritten) {
  attach::AttachedProcess process = process_of(5);
  process.warnings = {"one", "two \xff"};
  process.waiting = 2;
  const attach::AttachedProcess back = attach::parse_attached(attach::to_text(process), "x");
  EXPECT_EQ(back.command, process.command);
  EXPECT_EQ(back.pid, 7);
  EXPECT_EQ(back.devices.at(0).device.name, "NVIDIA H100");
  EXPECT_EQ(back.kernels.at(0).name, kKernel);
  EXPECT_EQ(back.kernels.at(0).launches, 5u);
  EXPECT_EQ(back.kernels.at(0).counted.at(0).count, 5u);
  EXPECT_EQ(back.kernels.at(0).resources, process.kernels.at(0).resources);
  EXPECT_EQ(back.warnings.size(), 2u);
  EXPECT_EQ(back.waiting, 2u);
  ASSERT_EQ(back.records.at(0).size(), 2u);
  const metrics::Instruction first{kCubin, kKernel, 0x40};
  EXPECT_EQ(back.records.at(0).at(first).values, process.records.at(0).at(first).values);
}

// 128 of 132 multiprocessors have a block of 12 warps, as the driver says of clusters of 8.
TEST(AttachedFacts, HaveTheOccupancyOfWholeClusters) {
  attach::AttachedProcess process = process_of(1);
  attach::AttachedKernel& kernel = process.kernels.at(0);
  kernel.counted.at(0).cluster = {8, 1, 1};
  kernel.resources.at(0).resident_warps = 12. * 128 / 132;
  const attach::AttachedProcess back =
      attach::parse_attached(attach::to_text(process), "of clusters");
  EXPECT_EQ(back.kernels.at(0).counted.at(0).cluster, kernel.counted.at(0).cluster);
  EXPECT_EQ(back.kernels.at(0).resources, kernel.resources);
  const programs::ProgramCase one = cases_of({back}).at(0);
  EXPECT_EQ(value_of(one, "cluster.blocks"), 8);
  EXPECT_DOUBLE_EQ(value_of(one, "occupancy.theoretical"), 12. / 64 * 128 / 132);
}

TEST(AttachedFacts, HaveTheClustersThatAreCompiledIn) {
  attach::AttachedProcess process = process_of(1);
  EXPECT_EQ(value_of(cases_of({process}).at(0), "cluster.blocks"), 1);
  process.kernels.at(0).resources.at(0).compiled_cluster = {4, 2, 1};
  const programs::ProgramCase one = cases_of({process}).at(0);
  EXPECT_EQ(value_of(one, "cluster.blocks"), 8);
  EXPECT_EQ(one.facts.at(0).context->kernels.at(0).launches.at(0).cluster,
            (std::array<std::uint32_t, 3>{4, 2, 1}));
}

TEST(AttachedFacts, HaveTheRegistersAfterSetmaxnregFromTheCodeThatRan) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "warpgauge_attached_registers";
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(WARPGAUGE_TEST_DATA "/cubin/hopper.sm_90a.cubin",
                             folder / attach::cubin_name(kCubin),
                             std::filesystem::copy_options::overwrite_existing);
  attach::AttachedProcess process = process_of(1);
  const std::string kernel = "_Z11specialisedPf";
  process.kernels.at(0).name = kernel;
  metrics::SassValues first;
  first[SassMetric::instructions] = 12;
  process.records[0] = {{{kCubin, kernel, 0}, first}};
  const auto values = attach::attached_kernels({process}, folder).at(0).compiled.values;
  EXPECT_EQ(values.at("registers.least"), 40);
  EXPECT_EQ(values.at("registers.most"), 232);
  EXPECT_FALSE(attach::attached_kernels({process}, testing::TempDir() + "none")
                   .at(0)
                   .compiled.values.contains("registers.least"))
      << "without the code they are not known";
}

TEST(AttachedFacts, HaveBulkCopiesByKindAndSayWhatGlobalMemoryLeavesOut) {
  attach::AttachedProcess process = process_of(1);
  metrics::SassValues load, reduction, product;
  load[SassMetric::instructions] = load[SassMetric::bulk_loads] = 8;
  reduction[SassMetric::instructions] = reduction[SassMetric::bulk_reductions] = 3;
  product[SassMetric::instructions] = product[SassMetric::wgmmas] = 16;
  product[SassMetric::shared_wavefronts] = product[SassMetric::shared_wavefronts_ideal] = 128;
  process.records[0][{kCubin, kKernel, 0xc0}] = load;
  process.records[0][{kCubin, kKernel, 0xd0}] = reduction;
  process.records[0][{kCubin, kKernel, 0xe0}] = product;
  const programs::ProgramCase one = cases_of({process}).at(0);
  EXPECT_EQ(value_of(one, "bulk.load.instructions"), 8);
  EXPECT_EQ(value_of(one, "bulk.store.instructions"), 3);
  EXPECT_EQ(value_of(one, "wgmma.instructions"), 16);
  EXPECT_EQ(value_of(one, "wgmma.wavefronts"), 128);
  EXPECT_EQ(value_of(one, "cluster.requests"), 0);
  EXPECT_EQ(value_of(one, "global.load.sectors"), 0);
  for (const metrics::Fact& fact : one.facts) {
    if (fact.scope != metrics::Scope::whole_case) continue;
    EXPECT_EQ(fact.confidence == "exact", !fact.confidence.empty()) << fact.metric;
    if (fact.metric == "global.load.sectors") {
      EXPECT_EQ(fact.leaves_out, 8u);
    } else if (fact.metric == "global.store.sectors") {
      EXPECT_EQ(fact.leaves_out, 3u);
    }
    EXPECT_NE(fact.metric, "bulk.load.bytes") << "no GPU counts it";
  }
}

TEST(ProgramCase, IsCalledByItsNameWithAndWithoutVoid) {
  const programs::ProgramCase one{
      .id = {}, .kernel = "void my::add<float>(float*)", .device = {}, .facts = {}};
  for (const char* expression : {"^my::", "^void my", "<float>", ""}) {
    EXPECT_TRUE(one.is_called(std::regex(expression))) << expression;
  }
  EXPECT_FALSE(one.is_called(std::regex("^add")));
}

TEST(KernelBudgets, TheLongestGlobWinsWhateverTheArchitecture) {
  const std::string path = testing::TempDir() + "kernel_budgets.toml";
  std::ofstream(path) << "[default]\nregisters = 9\n"
                         "[\"*\".sm_90]\nregisters = 1\n\"stack.bytes\" = 1\n"
                         "[\"add\"]\nregisters = 2\n"
                         "[\"add\".sm_80]\nregisters = 3\n"
                         "[\"*operator/*\"]\nregisters = 4\n"
                         "[\"f.1\"]\nregisters = 5\n[\"*long_name\"]\nregisters = 6\n";
  const metrics::Budgets all = metrics::Budgets::load_unregistered(path);
  EXPECT_THAT(all.section_names(),
              testing::UnorderedElementsAre("*", "add", "*operator/*", "f.1", "*long_name"));
  const metrics::CaseId id{"program", "add", "x", "run"};
  const metrics::Budgets of_add = all.of_kernel(id, std::vector<std::string>{"add"});
  const auto limit = [&](const char* arch, const char* metric) {
    return of_add.find(id, arch, metric)->str();
  };
  EXPECT_EQ(limit("sm_90", "registers"), "<= 2");
  EXPECT_EQ(limit("sm_80", "registers"), "<= 3");
  EXPECT_EQ(limit("sm_90", "stack.bytes"), "<= 1");
  EXPECT_EQ(of_add.find(id, "sm_80", "stack.bytes"), nullptr);
  const std::vector<std::string> other = {"my::operator/(int)"};
  EXPECT_EQ(all.of_kernel(id, other).find(id, "sm_80", "registers")->str(), "<= 4");
  const metrics::CaseId f{"program", "f", "1", "run"};
  const std::vector<std::string> names = {"a_long_name", "f.1"};
  EXPECT_EQ(all.of_kernel(f, names).find(f, "sm_80", "registers")->str(), "<= 5") << "its id";
}

TEST(AttachedProcess, ADamagedResultIsReportedWithItsFile) {
  for (const char* text : {"", "{", "[]", "{}", R"({"schema": "warpgauge.attached/5"})"}) {
    try {
      attach::parse_attached(text, "out/7.json");
      ADD_FAILURE() << text;
    } catch (const attach::AttachedError& error) {
      EXPECT_THAT(error.what(), HasSubstr("out/7.json: not a result of the attached library"));
    }
  }
}

TEST(AttachedFacts, AreOfTheArchitectureOfTheCodeThatRan) {
  std::ifstream in(WARPGAUGE_TEST_DATA "/fat_binary/none.fatbin", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const auto entries = metrics::read_fat_binary(std::as_bytes(std::span(bytes)));
  const auto entry = std::ranges::find(entries, "sm_100a", &metrics::FatBinaryEntry::arch);
  ASSERT_NE(entry, entries.end());
  const std::vector<std::byte> image = entry->unpack();
  const auto folder = std::filesystem::path(testing::TempDir()) / "warpgauge_attached_arch";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / attach::cubin_name(kCubin), std::ios::binary)
      .write(reinterpret_cast<const char*>(image.data()),
             static_cast<std::streamsize>(image.size()));
  attach::AttachedProcess process = process_of(1);
  process.devices[0].device.compute_capability = "10.0";
  const std::string path = testing::TempDir() + "attached_arch.toml";
  std::ofstream(path) << "[default.sm_100]\nregisters = 1\n[default.sm_100a]\nregisters = 99\n";
  const auto cases =
      programs::cases_of(attach::kCounter, "program", attach::attached_kernels({process}, folder),
                         metrics::Budgets::load_unregistered(path));
  ASSERT_EQ(cases.size(), 1u);
  for (const metrics::Fact& fact : cases[0].facts) EXPECT_EQ(fact.arch, "sm_100a");
  EXPECT_EQ(cases[0].budgets.find(cases[0].id, cases[0].facts[0].arch, "registers")->str(),
            "<= 99");
}

/// A process of two kernels of tests/data/cubin/linked.sm_90.cubin, chain and another, and records
/// of what they call: inner, by way of outer.
attach::AttachedProcess process_that_calls(const std::string& another) {
  attach::AttachedProcess process = process_of(1);
  process.kernels[0].name = "_ZN6sample5chainEPi";
  process.kernels.push_back(process.kernels[0]);
  process.kernels[1].name = another;
  metrics::SassValues first, load;
  first[SassMetric::instructions] = 32;
  load[SassMetric::instructions] = 3;
  load[SassMetric::local_requests] = 3;
  load[SassMetric::local_sectors] = 12;
  process.records[0] = {{{kCubin, "_ZN6sample5chainEPi", 0}, first},
                        {{kCubin, another, 0}, first},
                        {{kCubin, "_ZN6sample5innerEi", 0}, load}};
  return process;
}

std::vector<programs::CountedKernel> kernels_that_call(const attach::AttachedProcess& process) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "warpgauge_attached_calls";
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(WARPGAUGE_TEST_DATA "/cubin/linked.sm_90.cubin",
                             folder / attach::cubin_name(kCubin),
                             std::filesystem::copy_options::overwrite_existing);
  return attach::attached_kernels({process}, folder);
}

metrics::Counts total(const programs::CountedKernel& kernel) {
  metrics::Counts total;
  for (const metrics::LineCounts& line : kernel.lines) {
    EXPECT_EQ(line.kernel, kernel.name);
    total += line.counts;
  }
  return total;
}

TEST(AttachedFacts, AFunctionIsOfTheKernelThatCallsIt) {
  const auto kernels = kernels_that_call(process_that_calls("_ZN6sample8weightedEPi"));
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "_ZN6sample5chainEPi");
  EXPECT_EQ(total(kernels[0]).local_sectors, 12u);
  EXPECT_EQ(total(kernels[1]).local_sectors, 0u);
  EXPECT_EQ(kernels[0].counted_warps, 32u) << "warps of the function are none of the kernel";
}

TEST(AttachedFacts, AFunctionOfTwoKernelsStaysAloneAndTheyAreNotExact) {
  const auto process = process_that_calls("_ZN6sample10by_pointerEPiPFiiE");
  const auto kernels = kernels_that_call(process);
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernels[2].name, "_ZN6sample5innerEi");
  EXPECT_EQ(total(kernels[2]).local_sectors, 12u);
  for (const auto& kernel : {kernels[0], kernels[1]}) {
    const metrics::Trust& trust = metrics::trust_in(kernel.lines.at(0), "local.sectors");
    EXPECT_EQ(trust.confidence, metrics::Confidence::estimate);
    EXPECT_THAT(trust.reason, HasSubstr("sample::inner(int) is a function that 2 of the kernels"));
  }
}

TEST(AttachedFacts, AFunctionIsOfTheKernelOfItsLaunchesIfThatIsKnown) {
  attach::AttachedProcess process = process_that_calls("_ZN6sample10by_pointerEPiPFiiE");
  auto node = process.records[0].extract({kCubin, "_ZN6sample5innerEi", 0});
  node.key().owner = "_ZN6sample10by_pointerEPiPFiiE";
  process.records[0].insert(std::move(node));
  const auto kernels =
      kernels_that_call(attach::parse_attached(attach::to_text(process), "as it was written"));
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(total(kernels[0]).local_sectors, 12u);
  EXPECT_EQ(kernels[0].name, "_ZN6sample10by_pointerEPiPFiiE");
  EXPECT_EQ(metrics::trust_in(kernels[0].lines.at(0), "local.sectors").reason, "");
}

TEST(AttachedFacts, AddUpAllLaunchesOfAllProcesses) {
  const auto cases = cases_of({process_of(5), process_of(2, 8)});
  ASSERT_EQ(cases.size(), 1u);
  const programs::ProgramCase& one = cases[0];
  EXPECT_EQ(one.kernel, "void by_columns<32>(int*, int const*)");
  EXPECT_EQ(one.id.family, "my_program");
  EXPECT_EQ(one.id.variant, "by_columns");
  EXPECT_EQ(one.id.size, "run");
  EXPECT_EQ(one.launches, 7u);
  EXPECT_EQ(one.counted, 7u);
  EXPECT_EQ(value_of(one, "shared.bank_conflicts"), 7 * 32 * 31);
  EXPECT_EQ(value_of(one, "shared.bank_ways"), 32);
  EXPECT_EQ(value_of(one, "global.store.sectors"), 7 * 128);
  EXPECT_EQ(value_of(one, "global.excess_sectors"), 0);
  EXPECT_EQ(value_of(one, "registers"), 14);
  EXPECT_EQ(value_of(one, "shared.static_bytes"), 4096);
  for (const metrics::Fact& fact : one.facts) {
    EXPECT_EQ(fact.arch, "sm_90");
    EXPECT_EQ(fact.kernel, kKernel);
    EXPECT_EQ(fact.context->kind, metrics::CaseKind::attached);
    EXPECT_EQ(fact.context->device, "NVIDIA H100");
    ASSERT_EQ(fact.context->kernels.size(), 1u);
    EXPECT_EQ(fact.context->kernels[0].launches.size(), 2u) << "there are two shapes";
    EXPECT_NE(fact.metric, "spill.store_bytes") << "spills are seen by the local memory they use";
  }
}

TEST(AttachedFacts, OfOneShapeHaveItAndItsOccupancy) {
  const auto cases = cases_of({process_of(5)});
  EXPECT_EQ(cases.at(0).facts.at(0).context->kernels.at(0).launches.at(0).count, 5u);
  EXPECT_EQ(value_of(cases.at(0), "occupancy.theoretical"), 1.0);
}

TEST(AttachedFacts, AKernelOfWhichNothingWasCountedIsNotWithoutConflicts) {
  attach::AttachedProcess process = process_of(5);
  process.records.clear();
  const auto cases = cases_of({process});
  const auto conflicts =
      std::ranges::find(cases.at(0).facts, "shared.bank_conflicts", &metrics::Fact::metric);
  ASSERT_NE(conflicts, cases.at(0).facts.end());
  EXPECT_TRUE(std::holds_alternative<std::monostate>(conflicts->value));
  EXPECT_EQ(conflicts->reason, "nothing was counted of this kernel");
}

TEST(AttachedFacts, ModelsOfGpusAreSeparated) {
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

}  // namespace
}  // namespace warpgauge
