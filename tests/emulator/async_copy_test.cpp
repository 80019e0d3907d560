// cp.async: data arrives when a thread waits for its group, and not sooner.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "metrics/counting/counting_rules.h"
#include "tests/emulator/memory_bench.h"

namespace warpgauge::emulator::machine::async_copy_test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr std::uint32_t kOld = 0xeeeeeeee;

class AsyncCopy : public MemoryInstructions {
 protected:
  void SetUp() override {
    MemoryInstructions::SetUp();
    if (IsSkipped()) return;
    from_ = bench().allocate<std::uint32_t>(kWords, "input");
    to_ = reinterpret_cast<std::uint32_t*>(bench().shared);
    for (std::uint32_t i = 0; i < kWords; ++i) from_[i] = 1000 + i;
    std::fill(to_, to_ + MemoryBench::kSharedBytes / 4, kOld);
    point(4);
  }
  void point(int stride) {
    bench().point("%rd1", from_, stride);
    bench().fill<std::uint32_t>("%r1", [&](int lane) { return stride * lane; });
  }

  static constexpr std::uint32_t kWords = 512;
  std::uint32_t* from_ = nullptr;
  std::uint32_t* to_ = nullptr;
};
WARPGAUGE_FOR_ALL_INSTRUCTION_SETS(AsyncCopy);

TEST_P(AsyncCopy, ArrivesWithTheWaitForAll) {
  bench().run("cp.async.ca.shared.global [%r1], [%rd1], 4;");
  EXPECT_EQ(to_[0], kOld);
  from_[0] = 77;  // the copy is made at the wait
  bench().run("cp.async.wait_all;");
  EXPECT_EQ(to_[0], 77u);
  EXPECT_EQ(to_[31], 1031u);
  EXPECT_EQ(to_[32], kOld);
}

TEST_P(AsyncCopy, EveryWidth) {
  point(8);
  bench().run("cp.async.ca.shared.global.L2::128B [%r1], [%rd1+8], 8;");
  point(16);
  bench().run("cp.async.cg.shared.global [%r1+4096], [%rd1], 16;", 0xffff);
  bench().run("cp.async.wait_all;");
  for (std::uint32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(to_[i], 1002 + i);
    EXPECT_EQ(to_[1024 + i], 1000 + i);
  }
  EXPECT_EQ(to_[1024 + 64], kOld);
}

TEST_P(AsyncCopy, WaitGroupLeavesTheNewestGroups) {
  for (const int offset : {0, 128, 256, 384}) {
    bench().run("cp.async.ca.shared.global [%r1+" + std::to_string(offset) + "], [%rd1], 4;");
    if (offset < 384) bench().run("cp.async.commit_group;");
  }
  const auto arrived = [&] {
    std::string text;
    for (int n = 0; n < 4; ++n) text += to_[32 * n + 5] == kOld ? '-' : '+';
    return text;
  };
  bench().run("cp.async.wait_group 3;");
  EXPECT_EQ(arrived(), "----");
  bench().run("cp.async.wait_group 2;");
  EXPECT_EQ(arrived(), "+---");
  bench().run("cp.async.wait_group 0;");
  EXPECT_EQ(arrived(), "+++-");  // the last one is in no group yet
  bench().run("cp.async.commit_group;");
  bench().run("cp.async.wait_group 0;");
  EXPECT_EQ(arrived(), "++++");
}

TEST_P(AsyncCopy, GroupsBelongToEachThread) {
  bench().run("cp.async.commit_group;", 0x1);  // lane 0 is one group ahead
  bench().run("cp.async.ca.shared.global [%r1], [%rd1], 4;");
  bench().run("cp.async.commit_group;");
  bench().run("cp.async.commit_group;", 0x2);
  bench().run("cp.async.wait_group 1;");
  EXPECT_EQ(to_[0], kOld);
  EXPECT_EQ(to_[1], 1001u);
  EXPECT_EQ(to_[2], kOld);
  bench().run("cp.async.wait_group 0;", 0x4);
  EXPECT_EQ(to_[2], 1002u);
  EXPECT_EQ(to_[3], kOld);
}

TEST_P(AsyncCopy, FillsWithZerosWhatItDoesNotRead) {
  bench().fill<std::uint32_t>("%r2", [](int lane) { return lane % 5; });  // bytes to read
  from_[4] = 0x04030201;
  from_[3] = 0x04030201;
  bench().run("cp.async.ca.shared.global [%r1], [%rd1], 4, %r2;");
  bench().run("cp.async.wait_all;");
  EXPECT_EQ(to_[0], 0u);
  EXPECT_EQ(to_[3], 0x00030201u);
  EXPECT_EQ(to_[4], 0x04030201u);
  EXPECT_EQ(to_[5], 0u);
}

TEST_P(AsyncCopy, ReadsNoMoreThanItCopies) {
  EXPECT_THAT(bench().fault_of("cp.async.ca.shared.global [%r1], [%rd1], 4, 5;").what(),
              EndsWith("cp.async of 4 bytes is to read 5"));
}

TEST_P(AsyncCopy, IgnoresTheSourceOnRequest) {
  bench().predicate("%p1") = 0x2;
  bench().run("cp.async.ca.shared.global [%r1], [%rd1], 4, %p1;");
  bench().run("cp.async.wait_all;");
  EXPECT_EQ(to_[0], 1000u);
  EXPECT_EQ(to_[1], 0u);
}

TEST_P(AsyncCopy, ReadsOnlyWhatItSays) {
  bench().point("%rd1", from_ + kWords, 16);  // behind the end
  bench().fill<std::uint32_t>("%r1", [](int lane) { return 16 * lane; });
  // None of these copies faults, though the last one has 4 bytes left of the 16 that it copies.
  bench().run("cp.async.cg.shared.global [%r1], [%rd1], 16, 0;");
  bench().run("cp.async.wait_all;");
  EXPECT_EQ(to_[127], 0u);
  bench().point("%rd1", from_ + kWords - 4, 0);
  bench().run("cp.async.cg.shared.global [%r1], [%rd1], 16, 8;");
  auto* const odd = bench().allocate<std::uint32_t>(5, "odd");
  bench().point("%rd1", odd + 4, 0);
  bench().run("cp.async.cg.shared.global [%r1], [%rd1], 16, 4;");
  EXPECT_THAT(bench().fault_of("cp.async.cg.shared.global [%r1], [%rd1], 16, 8;").what(),
              HasSubstr("the last 4 bytes are past the end of odd (20 bytes)"));
}

TEST_P(AsyncCopy, FaultsWhereItIsIssued) {
  bench().point("%rd2", from_ + kWords, 0);
  EXPECT_THAT(bench().fault_of("cp.async.ca.shared.global [%r1], [%rd2], 4;").what(),
              EndsWith("right past the end of input (2048 bytes)"));
  bench().fill<std::uint32_t>("%r2", [](int) { return MemoryBench::kSharedBytes; });
  EXPECT_THAT(bench().fault_of("cp.async.ca.shared.global [%r2], [%rd1], 4;").what(),
              HasSubstr("invalid shared write of 4 bytes at 0x2000"));
  EXPECT_EQ(bench().fault_of("cp.async.cg.shared.global [%r1], [%rd1], 16;").kind(),
            Fault::Kind::misaligned_address);
}

TEST_P(AsyncCopy, CountsBothSides) {
  point(8);
  const std::string text = "cp.async.ca.shared.global [%r1], [%rd1], 8;";
  for (int i = 0; i < 3; ++i) bench().run(text);
  bench().run(text, 0xffff);
  const AccessTotals shared = bench().totals(text, 0), global = bench().totals(text, 1);
  EXPECT_EQ(shared.space, AccessTotals::Space::shared);
  EXPECT_EQ(shared.requests, 4u);
  EXPECT_EQ(shared.wavefronts, 3 * 2u + 1);  // a half-warp of 8 bytes is 128 bytes
  EXPECT_EQ(shared.wavefronts_ideal, 3 * 2u + 1);
  EXPECT_EQ(global.space, AccessTotals::Space::global_load);
  EXPECT_EQ(global.requests, 4u);
  EXPECT_EQ(global.sectors, 3 * 8u + 4);
  EXPECT_EQ(global.sectors_ideal, 3 * 8u + 4);
  EXPECT_EQ(global.tags, 3 * 2u + 1);
}

TEST_P(AsyncCopy, ReadsNothingAndIsARequestAllTheSame) {
  point(4);
  const std::string text = "cp.async.ca.shared.global [%r1], [%rd1], 4, %r2;";
  for (const std::uint32_t bytes : {0u, 0u, 4u, 0u}) {
    bench().fill<std::uint32_t>("%r2", [&](int) { return bytes; });
    bench().run(text);
  }
  const AccessTotals shared = bench().totals(text, 0), global = bench().totals(text, 1);
  EXPECT_EQ(shared.requests, 4u);
  EXPECT_EQ(shared.wavefronts, 4u);
  EXPECT_EQ(global.requests, 4u);
  EXPECT_EQ(global.sectors, 4u) << "of the one that reads";
  EXPECT_EQ(global.tags, 1u);
}

TEST_P(AsyncCopy, CountsByTheRulesForWhateverAddresses) {
  const std::string text = "cp.async.cg.shared.global [%r1], [%rd1], 16;";
  metrics::AsyncCost sum;
  for (int i = 0; i < 24; ++i) {
    const std::uint32_t step = 16 * (i / 4 % 3), shift = 16 * (i % 4);
    std::uint32_t to[kLanes];
    std::uint64_t from[kLanes];
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      bench().reg<std::uint32_t>("%r1")[lane] = to[lane] = step * lane + shift;
      bench().reg<std::uint64_t>("%rd1")[lane] = from[lane] =
          reinterpret_cast<std::uint64_t>(from_) + 48 * lane + shift;
    }
    bench().run(text);
    const metrics::AsyncCost cost =
        metrics::async_cost(metrics::AccessKind::async_copy_bypass, 16, to, from, kAllLanes);
    sum.shared.wavefronts += cost.shared.wavefronts;
    sum.shared.ideal += cost.shared.ideal;
    sum.global.sectors += cost.global.sectors;
    sum.global.ideal += cost.global.ideal;
  }
  EXPECT_EQ(bench().totals(text, 0).wavefronts, sum.shared.wavefronts);
  EXPECT_EQ(bench().totals(text, 0).wavefronts_ideal, sum.shared.ideal);
  EXPECT_EQ(bench().totals(text, 1).sectors, sum.global.sectors);
  EXPECT_EQ(bench().totals(text, 1).sectors_ideal, sum.global.ideal);
}

TEST_P(AsyncCopy, OtherFormsAreRefused) {
  for (const char* const text :
       {"cp.async.bulk.shared::cluster.global.bulk_group [%r1], [%rd1], 16;",
        "cp.async.cg.shared.global [%r1], [%rd1], 4;",
        "cp.async.ca.shared.global [%r1], [%rd1], 5;"}) {
    EXPECT_THROW(bench().run(text), decode::Unsupported) << text;
  }
}

}  // namespace
}  // namespace warpgauge::emulator::machine::async_copy_test
