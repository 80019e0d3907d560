// Functions that kernels call, in the machine code of attached processes: to which kernel their
// counts belong.
#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/attach/called_functions.h"
#include "tests/attach/attached_processes.h"
#include "tests/metrics/recorded_file.h"

namespace warpgauge::attached_functions_test {
namespace {

using metrics::SassMetric;
using testing::HasSubstr;

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

/// The counts of an instruction that `row` has, where it is recorded as `recorded` of
/// tests/data/cubin/recursion.sm_90.cubin, and no kernel but `counted` was.
metrics::SassRecords attributed(const metrics::Instruction& recorded, const std::string& counted,
                                const std::string& row) {
  const std::vector<std::byte> image = metrics::recorded_file("cubin/recursion.sm_90.cubin");
  metrics::SassValues once;
  once[SassMetric::instructions] = 1;
  const auto found = attach::attribute({{recorded, once}}, {counted}, [&](std::uint32_t crc) {
    return crc == kCubin ? std::span(image) : std::span<const std::byte>();
  });
  return found.records.contains(row) ? found.records.at(row) : metrics::SassRecords{};
}

TEST(AttachedFacts, OffsetsOfACopyInTheKernelCountFromEitherBeginning) {
  constexpr std::uint32_t kCopy = 0x150;
  for (const std::uint32_t recorded : {0u, kCopy}) {
    const auto records =
        attributed({kCubin, "$calling$_Z4oncePKii", recorded}, "calling", "calling");
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records.begin()->first, (metrics::Instruction{kCubin, "calling", kCopy}));
  }
}

TEST(AttachedFacts, AKernelThatWasNotCountedIsNoFunctionOfAnother) {
  const metrics::Instruction own{kCubin, "aligned", 0, "calling"};
  EXPECT_EQ(attributed(own, "calling", "aligned").size(), 1u);
  EXPECT_EQ(attributed(own, "calling", "calling").size(), 0u);
}

TEST(AttachedFacts, CodeThatIsInNoKnownCubinStaysAlone) {
  EXPECT_EQ(attributed({kCubin, "unknown", 0}, "calling", "unknown").size(), 1u);
  EXPECT_EQ(attributed({kCubin + 1, "aligned", 0}, "calling", "aligned").size(), 1u);
}

}  // namespace
}  // namespace warpgauge::attached_functions_test
