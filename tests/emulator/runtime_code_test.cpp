// The choice of code from a fat binary, and the lines of counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>

#include "harness/emulator/counting/kernel_trust.h"
#include "harness/emulator/counting/line_counts.h"
#include "harness/emulator/machine/core/outcome.h"
#include "harness/emulator/runtime/code_selection.h"
#include "metrics/machine_code/kernel_resources.h"
#include "tests/emulator/kept_line.h"
#include "tests/emulator/runtime_test.h"

namespace warpgauge::emulator::runtime::runtime_code_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(CodeSelectionTest, TheArchitecturesOwnPtxComesFirst) {
  const auto image = fat_binary({{.arch = 75, .text = "old"}, {.arch = 90, .text = "own"}});
  const SelectedCode code = select_code(image, {"sm_90", true});
  EXPECT_EQ(code.ptx, "own");
  EXPECT_EQ(code.ptx_arch, "sm_90");
  EXPECT_TRUE(code.cubin.empty());
}

TEST(CodeSelectionTest, OlderPtxIsTakenOnlyWhereItIsAllowed) {
  const auto image = fat_binary(
      {{.arch = 75, .text = "older"}, {.arch = 80, .text = "old"}, {.arch = 100, .text = "newer"}});
  EXPECT_EQ(select_code(image, {"sm_90", true}).ptx, "old");
  EXPECT_THAT([&] { select_code(image, {"sm_90", false}); },
              ThrowsMessage<NoPtx>(HasSubstr("sm_100, sm_75, sm_80")));
}

TEST(CodeSelectionTest, ArchitecturesOfOneNumberAreToldApart) {
  constexpr std::uint64_t kOfOneChip = 0x100000;
  const auto image =
      fat_binary({{.arch = 90, .text = "90"},
                  {.arch = 90, .text = "code 90", .is_ptx = false},
                  {.arch = 90, .text = "90a", .flags = kOfOneChip},
                  {.arch = 90, .text = "c 90a", .is_ptx = false, .flags = kOfOneChip}});
  const auto text_of = [](const std::vector<std::byte>& code) {
    return std::string(reinterpret_cast<const char*>(code.data()), code.size());
  };
  for (const bool older : {false, true}) {
    const SelectedCode plain = select_code(image, {"sm_90", older});
    EXPECT_EQ(plain.ptx, "90");
    EXPECT_THAT(text_of(plain.cubin), testing::StartsWith("code 90"));
    const SelectedCode special = select_code(image, {"sm_90a", older});
    EXPECT_EQ(special.ptx, "90a");
    EXPECT_EQ(special.ptx_arch, "sm_90a");
    EXPECT_THAT(text_of(special.cubin), testing::StartsWith("c 90a"));
  }
}

TEST(CodeSelectionTest, OfAnotherNameIsOnlyWhatTheChipRuns) {
  constexpr std::uint64_t kOfOneChip = 0x100000, kOfAFamily = 0x200000;
  const auto hopper = fat_binary({{.arch = 90, .text = "90a", .flags = kOfOneChip}});
  EXPECT_EQ(select_code(hopper, {"sm_90", true}).ptx_arch, "sm_90a");
  EXPECT_THAT([&] { select_code(hopper, {"sm_90", false}); },
              ThrowsMessage<NoPtx>(HasSubstr("no PTX for sm_90 in this program: it holds PTX for "
                                             "sm_90a")));
  EXPECT_THROW(select_code(hopper, {"sm_100", true}), NoPtx);

  const auto blackwell = fat_binary({{.arch = 90, .text = "90"},
                                     {.arch = 100, .text = "100f", .flags = kOfAFamily},
                                     {.arch = 100, .text = "100"}});
  EXPECT_EQ(select_code(blackwell, {"sm_103", true}).ptx, "100f");
  EXPECT_EQ(select_code(blackwell, {"sm_120", true}).ptx, "100");
}

TEST(CodeSelectionTest, MachineCodeAloneIsRecognised) {
  const auto image = fat_binary({{.arch = 90, .text = "code", .is_ptx = false}});
  EXPECT_THAT([&] { select_code(image, {"sm_90", true}); },
              ThrowsMessage<NoPtx>(HasSubstr("only machine code for sm_90")));
}

TEST(CodeSelectionTest, MachineCodeGoesWithPtxOfTheSameArchitecture) {
  const auto image = fat_binary({{.arch = 80, .text = "ptx"},
                                 {.arch = 80, .text = "code 80", .is_ptx = false},
                                 {.arch = 90, .text = "code 90", .is_ptx = false}});
  EXPECT_FALSE(select_code(image, {"sm_80", false}).cubin.empty());
  EXPECT_TRUE(select_code(image, {"sm_90", true}).cubin.empty())
      << "made from other PTX than the one that is run";
}

TEST(CubinRegistersTest, WhatIsNoCubinHasNone) {
  const std::vector<std::byte> nothing;
  EXPECT_TRUE(metrics::resources_of_kernels(nothing).empty());
  EXPECT_TRUE(metrics::resources_of_kernels(fat_binary({{.text = "no ELF"}})).empty());
}

TEST(CubinRegistersTest, TheyAreThoseOfPtxas) {
  // The output of ptxas -v when the cubins were recorded (tests/data/cubin/README.md).
  using testing::Pair;
  using testing::UnorderedElementsAre;
  const auto recorded = [](const std::string& name) {
    std::ifstream file(WARPGAUGE_TEST_DATA "/cubin/" + name, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    std::map<std::string, std::uint32_t> registers;
    for (const auto& [name, kernel] :
         metrics::resources_of_kernels(std::as_bytes(std::span(bytes)))) {
      registers[name] = kernel.registers.value();
    }
    return registers;
  };
  EXPECT_THAT(recorded("spills.sm_75.cubin"),
              UnorderedElementsAre(Pair("_Z4leanPf", 8), Pair("_Z6spillsPfPKf", 24)));
  EXPECT_THAT(recorded("spills.sm_90.cubin"),
              UnorderedElementsAre(Pair("_Z4leanPf", 10), Pair("_Z6spillsPfPKf", 24)));
}

machine::InstructionTotals totals(int text_line, int line, machine::AccessTotals::Space space,
                                  std::uint64_t requests, std::uint64_t amount) {
  machine::InstructionTotals out;
  out.text_line = text_line;
  out.source = kept_line("a.cu", line);
  out.access.space = space;
  out.access.requests = requests;
  if (space == machine::AccessTotals::Space::shared) {
    out.access.wavefronts = amount;
    out.access.wavefronts_ideal = requests;
  } else {
    out.access.sectors = amount;
    out.access.sectors_ideal = requests;
  }
  return out;
}

TEST(CountTableTest, InstructionsOfALineAndLaunchesAreAddedUp) {
  using Space = machine::AccessTotals::Space;
  machine::LaunchOutcome outcome;
  outcome.warp_instructions = 10;
  outcome.branches = {{.text_line = 4, .source = kept_line("a.cu", 7), .divided = 1}};
  outcome.totals = {totals(5, 7, Space::shared, 2, 64), totals(6, 7, Space::global_load, 3, 12),
                    totals(9, 8, Space::local, 1, 4)};
  counting::CountTable table;
  table.add("k", outcome, std::make_shared<counting::KernelTrust>());
  table.add("k", outcome, std::make_shared<counting::KernelTrust>());
  const auto lines = table.take();
  ASSERT_EQ(lines.size(), 3u);  // the kernel's own, a.cu:7, a.cu:8
  EXPECT_EQ(lines[0].file, "");
  EXPECT_EQ(lines[0].counts.instructions, 20u);
  EXPECT_EQ(lines[0].counts.divergent_branches, 0u);
  EXPECT_EQ(lines[1].counts.divergent_branches, 2u);
  EXPECT_EQ(lines[1].line, 7);
  EXPECT_EQ(lines[1].counts.shared_wavefronts, 128u);
  EXPECT_EQ(lines[1].counts.shared_wavefronts_ideal, 4u);
  EXPECT_EQ(lines[1].counts.global_load_sectors, 24u);
  EXPECT_EQ(lines[1].counts.global_sectors_ideal, 6u);
  EXPECT_EQ(lines[2].counts.local_requests, 2u);
  EXPECT_TRUE(table.take().empty());
}

TEST(CountTableTest, ALineIsTrustedAsItsWorstInstruction) {
  using Space = machine::AccessTotals::Space;
  using metrics::Confidence;
  machine::LaunchOutcome outcome;
  outcome.totals = {totals(5, 7, Space::shared, 1, 1), totals(6, 7, Space::shared, 1, 1),
                    totals(7, 7, Space::global_load, 1, 1)};
  counting::KernelTrust trust;
  trust.by_text_line = {{5, {}}, {6, {Confidence::estimate, "spilled"}}};
  trust.otherwise = {Confidence::predicted, "not compared"};
  counting::CountTable table;
  table.add("k", outcome, std::make_shared<counting::KernelTrust>(trust));
  const auto lines = table.take();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1].trust.at("shared").confidence, Confidence::estimate);
  EXPECT_EQ(lines[1].trust.at("shared").reason, "spilled");
  EXPECT_EQ(lines[1].trust.at("global").confidence, Confidence::predicted);
  EXPECT_FALSE(lines[1].trust.contains("local"));
}

TEST(CountTableTest, CostsThatNoMeasurementDecidesAreEstimates) {
  machine::LaunchOutcome outcome;
  outcome.totals = {totals(5, 7, machine::AccessTotals::Space::shared, 1, 1)};
  outcome.totals[0].access.estimates = 1;
  outcome.totals[0].access.estimate_reason = "open";
  counting::KernelTrust trust;
  trust.by_text_line[5] = {};
  counting::CountTable table;
  table.add("k", outcome, std::make_shared<counting::KernelTrust>(trust));
  EXPECT_EQ(table.take().at(1).trust.at("shared"),
            (metrics::Trust{metrics::Confidence::estimate, "open"}));
}

TEST(CountTableTest, AnUncountedAccessMakesItsLineAnEstimate) {
  counting::KernelTrust trust;
  trust.uncounted = {{{"a.cu", 9}, "local", {metrics::Confidence::estimate, "spilled"}}};
  trust.rest = {metrics::Confidence::predicted, "not compared"};
  counting::CountTable table;
  table.add("k", {}, std::make_shared<counting::KernelTrust>(trust));
  const auto lines = table.take();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].trust.at("global").reason, "not compared");
  EXPECT_EQ(lines[1].line, 9);
  EXPECT_EQ(lines[1].counts, metrics::Counts{});
  EXPECT_EQ(lines[1].trust.at("local").reason, "spilled");
}

}  // namespace
}  // namespace warpgauge::emulator::runtime::runtime_code_test
