// Counts of Hopper's instructions, as an H100 counted them: accesses to the memory of a cluster,
// operands of wgmma, stores that several lanes make. The counts are written down here; what else
// was compared with an H100 is in docs/emulator.md.
#include "harness/emulator/machine/memory/whole_requests.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "harness/emulator/machine/core/outcome.h"
#include "tests/emulator/kernel_run.h"
#include "tests/emulator/wgmma_product.h"

namespace warpgauge::emulator::machine::whole_requests_test {
namespace {

using Space = AccessTotals::Space;

/// An access by each of 32 lanes to its own block or to the other one of a cluster, and the counts
/// of a block.
struct ClusterAccess {
  std::string name;
  std::string access;      ///< at %r15
  std::string sets_p1;     ///< sets %p1 for lanes that access their own block, not the other one
  std::uint32_t distance;  ///< between two lanes, bytes
  std::uint64_t shared_requests = 0, wavefronts = 0, cluster_requests = 0;
};

const std::string kLoad = "ld.shared::cluster.u32 %r20, [%r15];";
const std::string kWideLoad = "ld.shared::cluster.v4.u32 {%r20, %r21, %r22, %r23}, [%r15];";
const std::string kStore = "st.shared::cluster.u32 [%r15], %r0;";
const std::string kAtomic = "atom.relaxed.cluster.shared::cluster.add.u32 %r20, [%r15], %r0;";
const std::string kSwap = "atom.relaxed.cluster.shared::cluster.cas.b32 %r20, [%r15], %r0, %r0;";
const std::string kAll = "setp.lt.u32 %p1, %r0, 32;", kNone = "setp.ge.u32 %p1, %r0, 32;";
const std::string kHalf = "setp.lt.u32 %p1, %r0, 16;", kOne = "setp.eq.u32 %p1, %r0, 5;";

const ClusterAccess kAccesses[] = {
    {.name = "LoadOfTheOther",
     .access = kLoad,
     .sets_p1 = kNone,
     .distance = 32,
     .cluster_requests = 1},
    {.name = "LoadOfItsOwn",
     .access = kLoad,
     .sets_p1 = kAll,
     .distance = 32,
     .shared_requests = 1,
     .wavefronts = 8},
    {.name = "LoadOfBoth",
     .access = kLoad,
     .sets_p1 = kHalf,
     .distance = 4,
     .shared_requests = 1,
     .wavefronts = 1,
     .cluster_requests = 1},
    {.name = "LoadOfBothWithConflicts",
     .access = kLoad,
     .sets_p1 = kHalf,
     .distance = 32,
     .shared_requests = 1,
     .wavefronts = 4,
     .cluster_requests = 1},
    {.name = "LoadOfOneWordOfItsOwn",
     .access = kLoad,
     .sets_p1 = kOne,
     .distance = 32,
     .shared_requests = 1,
     .wavefronts = 1,
     .cluster_requests = 1},
    {.name = "WideLoadOfBoth",
     .access = kWideLoad,
     .sets_p1 = kHalf,
     .distance = 16,
     .shared_requests = 1,
     .wavefronts = 2,
     .cluster_requests = 1},
    {.name = "WideLoadOfBothWithConflicts",
     .access = kWideLoad,
     .sets_p1 = kHalf,
     .distance = 32,
     .shared_requests = 1,
     .wavefronts = 4,
     .cluster_requests = 1},
    {.name = "StoreToBothWithConflicts",
     .access = kStore,
     .sets_p1 = kHalf,
     .distance = 32,
     .shared_requests = 1,
     .wavefronts = 4,
     .cluster_requests = 1},
    {.name = "StoreToItsOwn",
     .access = kStore,
     .sets_p1 = kAll,
     .distance = 8,
     .shared_requests = 1,
     .wavefronts = 2},
    {.name = "AtomicsOnBothWithConflicts",
     .access = kAtomic,
     .sets_p1 = kHalf,
     .distance = 32,
     .shared_requests = 1,
     .wavefronts = 4,
     .cluster_requests = 1},
    {.name = "SwapOfBoth",
     .access = kSwap,
     .sets_p1 = kHalf,
     .distance = 4,
     .shared_requests = 1,
     .wavefronts = 2,
     .cluster_requests = 1},
    {.name = "SwapOfBothWithConflicts",
     .access = kSwap,
     .sets_p1 = kHalf,
     .distance = 32,
     .shared_requests = 1,
     .wavefronts = 8,
     .cluster_requests = 1},
};

class ClusterAccesses : public testing::TestWithParam<ClusterAccess> {};

TEST_P(ClusterAccesses, CountInTheMemoryThatTheyAreTo) {
  const ClusterAccess& access = GetParam();
  constexpr std::uint64_t kBlocks = 2;
  Shape shape{{kBlocks, 1, 1}, {32, 1, 1}};
  shape.cluster = {kBlocks, 1, 1};
  const std::string body =
      fmt::format(R"(
    .shared .align 16 .b8 buffer[1024];
    mov.u32 %r10, buffer;
    mad.lo.u32 %r11, %r0, {distance}, %r10;
    mov.u32 %r12, %cluster_ctarank;
    xor.b32 %r13, %r12, 1;
    {sets_p1}
    selp.b32 %r14, %r12, %r13, %p1;
    mapa.shared::cluster.u32 %r15, %r11, %r14;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    {access}
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    ret;)",
                  fmt::arg("distance", access.distance), fmt::arg("sets_p1", access.sets_p1),
                  fmt::arg("access", access.access));
  const LaunchOutcome outcome = run_body(body, shape).outcome;
  EXPECT_EQ(totals_of(outcome, Space::shared).requests, kBlocks * access.shared_requests);
  EXPECT_EQ(totals_of(outcome, Space::shared).wavefronts, kBlocks * access.wavefronts);
  EXPECT_EQ(totals_of(outcome, Space::cluster).requests, kBlocks * access.cluster_requests);
}

INSTANTIATE_TEST_SUITE_P(All, ClusterAccesses, testing::ValuesIn(kAccesses),
                         [](const auto& info) { return info.param.name; });

/// The wavefronts of a product m64nNk16 with A from registers or from shared memory.
std::uint64_t wavefronts_of_product(int n, bool a_is_in_registers) {
  std::vector<std::string> sums;
  for (int i = 0; i < n / 4; ++i) sums.push_back(fmt::format("%s{}", i));
  const std::string body = fmt::format(
      R"(
    .shared .align 128 .b8 tiles[16384];
    .reg .b32 {sums};
    .reg .b32 %a<4>;
    mov.u32 %r10, tiles;
    mov.u64 %rd5, {tile};
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n{n}k16.f16.f16.f16 {{{sums}}}, {operands};
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    ret;)",
      fmt::arg("sums", fmt::join(sums, ", ")), fmt::arg("tile", tile_descriptor(0, 128, 256, 0)),
      fmt::arg("n", n),
      fmt::arg("operands", a_is_in_registers ? "{%a0, %a1, %a2, %a3}, %rd5, 1, 1, 1, 0"
                                             : "%rd5, %rd5, 1, 1, 1, 0, 0"));
  const LaunchOutcome outcome = run_body(body, {{1, 1, 1}, {128, 1, 1}}).outcome;
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
  constexpr std::uint32_t kWarps = 4;
  const std::string body = fmt::format(R"(
    .shared .align 16 .b8 buffer[512];
    mov.u32 %r10, buffer;
    div.u32 %r11, %r0, {same};
    mad.lo.u32 %r12, %r11, 16, %r10;
    mul.wide.u32 %rd10, %r11, 16;
    add.u64 %rd11, %rd0, %rd10;
    {copy}
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    ret;)",
                                       fmt::arg("same", same), fmt::arg("copy", copy));
  const LaunchOutcome outcome = run_body(body, {{kWarps, 1, 1}, {32, 1, 1}}).outcome;
  return totals_of(outcome, Space::bulk_store).requests / kWarps;
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
