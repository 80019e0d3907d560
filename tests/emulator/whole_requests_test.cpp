// Counts of Hopper's instructions, as an H100 counted them: accesses to the memory of a cluster,
// operands of wgmma, stores that several lanes make.
#include "harness/emulator/machine/memory/whole_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "harness/emulator/machine/core/outcome.h"
#include "tests/emulator/kernel_run.h"
#include "tests/emulator/wgmma_product.h"

namespace warpgauge::emulator::machine::whole_requests_test {
namespace {

using Space = AccessTotals::Space;

struct ClusterAccess {
  std::string name, access;  ///< at %r15
  std::string is_own;        ///< %p1 of lanes that access their own block, of the others the other
  std::uint32_t distance;    ///< between two lanes, bytes
  std::uint64_t shared, wavefronts, cluster;  ///< a block's
};

const std::string kLoad = "ld.shared::cluster.u32 %r20, [%r15];";
const std::string kWideLoad = "ld.shared::cluster.v4.u32 {%r20, %r21, %r22, %r23}, [%r15];";
const std::string kStore = "st.shared::cluster.u32 [%r15], %r0;";
const std::string kAtomic = "atom.relaxed.cluster.shared::cluster.add.u32 %r20, [%r15], %r0;";
const std::string kSwap = "atom.relaxed.cluster.shared::cluster.cas.b32 %r20, [%r15], %r0, %r0;";
const std::string kAll = "setp.lt.u32 %p1, %r0, 32;", kNone = "setp.ge.u32 %p1, %r0, 32;";
const std::string kHalf = "setp.lt.u32 %p1, %r0, 16;", kOne = "setp.eq.u32 %p1, %r0, 5;";

const ClusterAccess kAccesses[] = {
    {"LoadOfTheOther", kLoad, kNone, 32, 0, 0, 1},
    {"LoadOfItsOwn", kLoad, kAll, 32, 1, 8, 0},
    {"LoadOfBoth", kLoad, kHalf, 4, 1, 1, 1},
    {"LoadOfBothWithConflicts", kLoad, kHalf, 32, 1, 4, 1},
    {"LoadOfOneWordOfItsOwn", kLoad, kOne, 32, 1, 1, 1},
    {"WideLoadOfBoth", kWideLoad, kHalf, 16, 1, 2, 1},
    {"WideLoadOfBothWithConflicts", kWideLoad, kHalf, 32, 1, 4, 1},
    {"StoreToBothWithConflicts", kStore, kHalf, 32, 1, 4, 1},
    {"StoreToItsOwn", kStore, kAll, 8, 1, 2, 0},
    {"AtomicsOnBothWithConflicts", kAtomic, kHalf, 32, 1, 4, 1},
    {"SwapOfBoth", kSwap, kHalf, 4, 1, 2, 1},
    {"SwapOfBothWithConflicts", kSwap, kHalf, 32, 1, 8, 1},
};

class ClusterAccesses : public testing::TestWithParam<ClusterAccess> {};

TEST_P(ClusterAccesses, CountInTheMemoryThatTheyAreTo) {
  const ClusterAccess& access = GetParam();
  Shape shape{{2, 1, 1}, {32, 1, 1}};
  shape.cluster = {2, 1, 1};
  const LaunchOutcome outcome = run_body(R"(
    .shared .align 16 .b8 buffer[1024];
    mov.u32 %r10, buffer;
    mad.lo.u32 %r11, %r0, )" + std::to_string(access.distance) +
                                             R"(, %r10;
    mov.u32 %r12, %cluster_ctarank;
    xor.b32 %r13, %r12, 1;
    )" + access.is_own + R"(
    selp.b32 %r14, %r12, %r13, %p1;
    mapa.shared::cluster.u32 %r15, %r11, %r14;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    )" + access.access + R"(
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    ret;)",
                                         shape)
                                    .outcome;
  EXPECT_EQ(totals_of(outcome, Space::shared).requests, 2 * access.shared);
  EXPECT_EQ(totals_of(outcome, Space::shared).wavefronts, 2 * access.wavefronts);
  EXPECT_EQ(totals_of(outcome, Space::cluster).requests, 2 * access.cluster);
}

INSTANTIATE_TEST_SUITE_P(All, ClusterAccesses, testing::ValuesIn(kAccesses),
                         [](const auto& info) { return info.param.name; });

/// m64nNk16 with A from registers or from shared memory.
std::uint64_t wavefronts_of_product(int n, bool a_is_in_registers) {
  std::string sums, registers;
  for (int i = 0; i < n / 4; ++i) {
    const std::string name = "%s" + std::to_string(i);
    sums += (i == 0 ? "" : ", ") + name;
    registers += ".reg .b32 " + name + ";\n";
  }
  const std::string b = std::to_string(tile_descriptor(0, 128, 256, 0));
  const LaunchOutcome outcome =
      run_body(registers +
                   ".shared .align 128 .b8 tiles[16384];\nmov.u32 %r10, tiles;\n.reg .b32 "
                   "%a<4>;\nmov.u64 %rd5, " +
                   b + ";\nwgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n" +
                   std::to_string(n) + "k16.f16.f16.f16 {" + sums + "}, " +
                   (a_is_in_registers ? "{%a0, %a1, %a2, %a3}, %rd5, 1, 1, 1, 0;"
                                      : "%rd5, %rd5, 1, 1, 1, 0, 0;") +
                   "\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\nret;",
               {{1, 1, 1}, {128, 1, 1}})
          .outcome;
  return totals_of(outcome, Space::wgmma).wavefronts;
}

TEST(WavefrontsOfProducts, AreTheBytesOfBothTilesOfTheWarpgroup) {
  EXPECT_EQ(wavefronts_of_product(64, false), 16u + 16);
  EXPECT_EQ(wavefronts_of_product(8, false), 16u + 2);
  EXPECT_EQ(wavefronts_of_product(24, false), 16u + 6);
  EXPECT_EQ(wavefronts_of_product(248, false), 16u + 62);
  EXPECT_EQ(wavefronts_of_product(8, true), 2u);
  EXPECT_EQ(wavefronts_of_product(136, true), 34u);
}

/// The count of bulk copies by a warp in which `same` lanes have the same operands.
std::uint64_t copies(const std::string& copy, int same) {
  const LaunchOutcome outcome = run_body(R"(
    .shared .align 16 .b8 buffer[512];
    mov.u32 %r10, buffer;
    div.u32 %r11, %r0, )" + std::to_string(same) +
                                             R"(;
    mad.lo.u32 %r12, %r11, 16, %r10;
    mul.wide.u32 %rd10, %r11, 16;
    add.u64 %rd11, %rd0, %rd10;
    )" + copy + R"(
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    ret;)",
                                         {{4, 1, 1}, {32, 1, 1}})
                                    .outcome;
  return totals_of(outcome, Space::bulk_store).requests / 4;
}

TEST(CopiesOfSeveralLanes, OfEqualStoresOneIsMade) {
  const std::string store = "cp.async.bulk.global.shared::cta.bulk_group [%rd11], [%r12], 16;";
  EXPECT_EQ(copies(store, 1), 32u);
  EXPECT_EQ(copies(store, 4), 8u);
  EXPECT_EQ(copies(store, 32), 1u);
}

TEST(CopiesOfSeveralLanes, EveryLaneMakesItsReduction) {
  const std::string add =
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd11], [%r12], 16;";
  EXPECT_EQ(copies(add, 1), 32u);
  EXPECT_EQ(copies(add, 32), 32u);
}

}  // namespace
}  // namespace warpgauge::emulator::machine::whole_requests_test
