// Launches keep lanes' addresses: of each instruction the access that shows most, however many
// threads share the blocks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "harness/emulator/counting/access_table.h"
#include "harness/emulator/counting/kernel_trust.h"
#include "tests/emulator/kept_line.h"
#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine::access_record_test {
namespace {

using metrics::WarpAccess;

/// Stores at (thread * (block + 1) % 32) words * 32: from block 0 on ever other strides; then loads
/// of the thread's own word.
constexpr const char* kStrides = R"(
  mov.u32 %r3, %ctaid.x;
  and.b32 %r3, %r3, 7;
  shl.b32 %r4, %r0, %r3;
  and.b32 %r4, %r4, 1023;
  shl.b32 %r4, %r4, 2;
  mov.u32 %r5, tile;
  add.u32 %r4, %r4, %r5;
  st.shared.u32 [%r4], %r0;
  st.global.u32 [%rd1], %r0;)";
constexpr const char* kTile = ".shared .align 128 .b8 tile[4096];\n";

LaunchOutcome outcome_of(int threads) {
  Options options = limited();
  options.threads = threads;
  const Shape shape{.grid = {64, 1, 1}, .block = {96, 1, 1}};
  return run_kernel(kernel_text(kStrides, kTile), shape, {}, options).outcome;
}

TEST(AccessRecord, KeepsWhatShowsMostOfEachInstruction) {
  const LaunchOutcome outcome = outcome_of(1);
  ASSERT_EQ(outcome.records.size(), 2u);
  const WarpAccess& store = outcome.records[0].access;
  ASSERT_TRUE(store.is_shared());
  // A stride of 32 words is the worst; blocks 5, 13, ... have it, the first warp of the first
  // shows.
  EXPECT_EQ(store.block_number, 5u);
  EXPECT_EQ(store.block, (std::array<std::uint32_t, 3>{5, 0, 0}));
  EXPECT_EQ(store.warp, 0u);
  EXPECT_EQ(store.taken, 32u);
  EXPECT_EQ(store.ideal, 1u);
  EXPECT_EQ(store.width, 4);
  EXPECT_EQ(store.mask, kAllLanes);
  for (std::uint64_t lane = 0; lane < 32; ++lane) EXPECT_EQ(store.addresses[lane], 128 * lane);
  const WarpAccess& global = outcome.records[1].access;
  EXPECT_EQ(global.space, WarpAccess::Space::global_store);
  EXPECT_EQ(global.taken, 4u);
  EXPECT_EQ(global.addresses[31] - global.addresses[0], 124u);
}

TEST(AccessRecord, IsTheSameForAnyNumberOfThreads) {
  const WarpAccess access = outcome_of(1).records.at(0).access;
  for (int threads = 2; threads <= 8; ++threads) {
    const WarpAccess many = outcome_of(threads).records.at(0).access;
    EXPECT_EQ(many.addresses, access.addresses);
    EXPECT_EQ(many.block_number, access.block_number);
    EXPECT_EQ(many.warp, access.warp);
  }
}

TEST(AccessTable, KeepsTheMostOfALineInEachSpace) {
  const auto record = [](bool shared, std::uint32_t taken) {
    InstructionRecord result{.text_line = 3, .source = kept_line("k.cu", 7)};
    result.access.space = shared ? WarpAccess::Space::shared : WarpAccess::Space::global_load;
    result.access.mask = kAllLanes;
    result.access.taken = taken;
    return result;
  };
  LaunchOutcome outcome;
  outcome.records = {record(false, 32), record(true, 2), record(true, 4), record(true, 3)};
  counting::KernelTrust trust;
  trust.by_text_line[3] = {metrics::Confidence::predicted, "a guess"};
  counting::AccessTable table;
  table.add("k", outcome, trust);
  const auto lines = table.take();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines[0].access.is_shared());
  EXPECT_EQ(lines[0].access.taken, 4u);
  EXPECT_EQ(lines[0].trust.reason, "a guess");
  EXPECT_EQ(lines[0].line, 7);
  EXPECT_EQ(lines[1].access.taken, 32u);
  EXPECT_TRUE(table.take().empty());
}

TEST(AccessTable, GivesLinesTheirCures) {
  const auto record = [](int line, int width, std::uint64_t distance) {
    InstructionRecord result{.text_line = 3, .source = kept_line("k.cu", line)};
    result.access.width = width;
    result.access.mask = kAllLanes;
    for (std::uint64_t lane = 0; lane < 32; ++lane) result.access.addresses[lane] = distance * lane;
    result.access.taken = distance == 128 ? 32 : 4;
    result.access.ideal = static_cast<std::uint32_t>(width) / 4;
    return result;
  };
  LaunchOutcome outcome;
  outcome.records = {record(7, 4, 128), record(8, 16, 16)};
  counting::AccessTable table;
  table.add("k", outcome, {});
  std::vector<metrics::LineCounts> lines = {{.kernel = "k", .file = "k.cu", .line = 7},
                                            {.kernel = "k", .file = "k.cu", .line = 8},
                                            {.kernel = "other", .file = "k.cu", .line = 7}};
  table.add_cures(lines);
  const std::string cure =
      "Rows are 32 words apart: pad by 1 word; this access then takes 1 wavefront instead of 32, "
      "ideal 1. Where the same rows are also accessed 16 bytes at a time, pad by 4 words, which "
      "keeps 16-byte alignment: 4 wavefronts.";
  EXPECT_EQ(lines[0].cures.at("shared.bank_conflicts"), cure);
  EXPECT_TRUE(lines[1].cures.empty());
  EXPECT_TRUE(lines[2].cures.empty());
  EXPECT_EQ(table.take().at(0).cure, cure);
}

}  // namespace
}  // namespace warpgauge::emulator::machine::access_record_test
