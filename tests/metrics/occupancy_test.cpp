// Theoretical occupancy: worked examples, the limits of every architecture, and the extremes.
#include "metrics/architecture/occupancy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

namespace warpgauge::metrics::occupancy_test {
namespace {

using ::testing::DoubleNear;

// A Fermi multiprocessor (compute capability 2.0), as in textbook examples. cuda_occupancy.h no
// longer has Fermi, so its sizes are given under 3.0, the oldest there.
// The allocation units differ (64 registers per warp there, 256 here; 128 and 256 bytes of shared
// memory), but in these examples both round to the same: 63 registers x 32 lanes to 2048.
constexpr Architecture kFermi = {.major = 3,
                                 .minor = 0,
                                 .max_threads_per_multiprocessor = 1536,
                                 .max_blocks_per_multiprocessor = 8,
                                 .registers_per_multiprocessor = 32768,
                                 .registers_per_block = 32768,
                                 .shared_per_multiprocessor = 48 * 1024,
                                 .shared_per_block = 48 * 1024,
                                 .shared_per_block_opt_in = 48 * 1024};

TEST(Occupancy, FermiLimitedByRegisters) {
  const Occupancy got = occupancy(kFermi, {.threads = 384, .registers_per_thread = 63});
  EXPECT_EQ(got.blocks_per_multiprocessor, 1);
  EXPECT_EQ(got.active_warps, 12);
  EXPECT_DOUBLE_EQ(got.fraction, 0.25);
  EXPECT_EQ(got.limiter, "registers");
}

TEST(Occupancy, FermiLimitedByShared) {
  const Occupancy got = occupancy(
      kFermi, {.threads = 512, .registers_per_thread = 20, .shared_static_bytes = 32 * 1024});
  EXPECT_EQ(got.blocks_per_multiprocessor, 1);
  EXPECT_THAT(got.fraction, DoubleNear(0.33, 0.005));
  EXPECT_EQ(got.limiter, "shared");
}

TEST(Occupancy, FermiLimitedByBlocks) {
  const Occupancy got = occupancy(kFermi, {.threads = 32, .registers_per_thread = 16});
  EXPECT_EQ(got.blocks_per_multiprocessor, 8);
  EXPECT_EQ(got.limiter, "blocks");
}

TEST(Occupancy, HopperByHand) {
  const Architecture& hopper = architecture("sm_90");
  // 8 warps of 64 registers: 2048 each, 32 fit.
  Occupancy got = occupancy(hopper, {.threads = 256, .registers_per_thread = 64});
  EXPECT_EQ(got.blocks_per_multiprocessor, 4);
  EXPECT_EQ(got.active_warps, 32);
  EXPECT_DOUBLE_EQ(got.fraction, 0.5);
  EXPECT_EQ(got.limiter, "registers");

  // 33 registers are rounded up to 40: 65536 / (40 x 32) = 51 warps, in 4 partitions 48.
  got = occupancy(hopper, {.threads = 128, .registers_per_thread = 33});
  EXPECT_EQ(got.active_warps, 48);

  // The system takes 1 KiB of each block: 228 / (75 + 1) = 3.
  got = occupancy(hopper, {.threads = 128,
                           .registers_per_thread = 16,
                           .shared_static_bytes = 40 * 1024,
                           .shared_dynamic_bytes = 35 * 1024});
  EXPECT_EQ(got.blocks_per_multiprocessor, 3);
  EXPECT_EQ(got.limiter, "shared");
}

TEST(Occupancy, EqualLimitsAreAllNamed) {
  const Architecture& hopper = architecture("sm_90");
  EXPECT_EQ(occupancy(hopper, {.threads = 1024, .registers_per_thread = 32}).limiter,
            "warps+registers");
  EXPECT_EQ(occupancy(hopper, {.threads = 64, .registers_per_thread = 32}).limiter,
            "warps+registers+blocks");
  // 228 KiB / 32 = 7.125 KiB; the system takes one of them.
  const BlockNeeds all = {
      .threads = 64, .registers_per_thread = 32, .shared_static_bytes = 6 * 1024 + 128};
  EXPECT_EQ(occupancy(hopper, all).limiter, "warps+registers+shared+blocks");
}

// The answers of cudaOccupancyMaxActiveBlocksPerMultiprocessor on an H200 (driver 580).
TEST(Occupancy, AgreesWithTheDriver) {
  const Architecture& hopper = architecture("sm_90");
  const auto with_shared = [&](std::uint64_t bytes) {
    return occupancy(hopper,
                     {.threads = 64, .registers_per_thread = 14, .shared_dynamic_bytes = bytes})
        .blocks_per_multiprocessor;
  };
  EXPECT_EQ(with_shared(0), 32);
  EXPECT_EQ(with_shared(7168), 28);
  EXPECT_EQ(with_shared(10240), 20);
  EXPECT_EQ(with_shared(30000), 7);
  EXPECT_EQ(with_shared(60000), 3);
  EXPECT_EQ(with_shared(100000), 2);
  EXPECT_EQ(with_shared(232448), 1);

  const auto with_barriers = [&](int barriers) {
    return occupancy(hopper, {.threads = 64, .registers_per_thread = 10, .barriers = barriers});
  };
  EXPECT_EQ(with_barriers(2).blocks_per_multiprocessor, 32);
  EXPECT_EQ(with_barriers(3).blocks_per_multiprocessor, 21);
  EXPECT_EQ(with_barriers(16).blocks_per_multiprocessor, 4);
  EXPECT_EQ(with_barriers(16).limiter, "barriers");
}

struct Limits {
  const char* arch;
  int threads, blocks, shared_kib;
};

class OccupancyOfEach : public testing::TestWithParam<Limits> {};

TEST_P(OccupancyOfEach, ArchitectureMeetsItsLimits) {
  const auto& [arch, threads, blocks, shared_kib] = GetParam();
  const Architecture& limits = architecture(arch);
  EXPECT_EQ(limits.max_threads_per_multiprocessor, threads);
  EXPECT_EQ(limits.max_blocks_per_multiprocessor, blocks);
  EXPECT_EQ(limits.shared_per_multiprocessor, static_cast<unsigned>(shared_kib) * 1024);

  const Occupancy small = occupancy(limits, {.threads = 32, .registers_per_thread = 16});
  EXPECT_EQ(small.blocks_per_multiprocessor, blocks);
  EXPECT_THAT(small.limiter, testing::EndsWith("blocks"));

  const Occupancy full = occupancy(limits, {.threads = 256, .registers_per_thread = 32});
  EXPECT_DOUBLE_EQ(full.fraction, 1);
  EXPECT_EQ(full.active_warps, threads / 32);

  // The largest block of shared memory fits once, and one byte more does not.
  BlockNeeds needs = {.threads = 32,
                      .registers_per_thread = 16,
                      .shared_dynamic_bytes = std::uint64_t{limits.shared_per_block_opt_in}};
  EXPECT_EQ(occupancy(limits, needs).blocks_per_multiprocessor, 1);
  ++needs.shared_dynamic_bytes;
  EXPECT_EQ(occupancy(limits, needs).blocks_per_multiprocessor, 0);
  EXPECT_EQ(occupancy(limits, needs).limiter, "shared");
}

// Written down apart from the table in architectures.cpp, from the same section of the guide.
constexpr Limits kLimits[] = {
    {"sm_75", 1024, 16, 64},   {"sm_80", 2048, 32, 164},  {"sm_86", 1536, 16, 100},
    {"sm_87", 1536, 16, 164},  {"sm_88", 1536, 16, 100},  {"sm_89", 1536, 24, 100},
    {"sm_90", 2048, 32, 228},  {"sm_100", 2048, 32, 228}, {"sm_103", 2048, 32, 228},
    {"sm_110", 1536, 24, 228}, {"sm_120", 1536, 24, 100}, {"sm_121", 1536, 24, 100}};

INSTANTIATE_TEST_SUITE_P(Table, OccupancyOfEach, testing::ValuesIn(kLimits),
                         [](const auto& info) { return std::string(info.param.arch); });

// Answers obey the rules that define occupancy, for every size of block.
TEST(Occupancy, KeepsItsRulesOverASweep) {
  for (const Architecture& limits : architectures()) {
    for (int threads = 1; threads <= 1024; threads += 31) {
      double before = 1;
      for (int registers = 1; registers <= 255; registers += 8) {
        const BlockNeeds needs = {.threads = threads, .registers_per_thread = registers};
        const Occupancy got = occupancy(limits, needs);
        ASSERT_LE(got.fraction, before) << "more registers, more occupancy";
        ASSERT_LE(got.active_warps * 32, limits.max_threads_per_multiprocessor);
        ASSERT_LE(got.blocks_per_multiprocessor, limits.max_blocks_per_multiprocessor);
        ASSERT_FALSE(got.limiter.empty());
        before = got.fraction;
      }
    }
  }
}

TEST(Occupancy, BlocksThatCannotRunHaveNone) {
  const Architecture& hopper = architecture("sm_90");
  EXPECT_EQ(occupancy(hopper, {.threads = 1025, .registers_per_thread = 16}).limiter, "warps");
  EXPECT_EQ(occupancy(hopper, {.threads = 1024, .registers_per_thread = 255}).limiter, "registers");

  constexpr int kHuge = std::numeric_limits<int>::max();
  const Occupancy got = occupancy(hopper, {.threads = kHuge,
                                           .registers_per_thread = kHuge,
                                           .shared_static_bytes = ~0ull,
                                           .shared_dynamic_bytes = ~0ull});
  EXPECT_EQ(got.fraction, 0);
  EXPECT_EQ(got.limiter, "warps+registers+shared");
}

// 2 blocks on each multiprocessor of an H100.
TEST(Occupancy, ClustersOfTwoBlocksAreExact) {
  const Architecture& hopper = architecture("sm_90");
  for (const int cluster : {1, 2}) {
    const Occupancy got =
        occupancy(hopper, {.threads = 512, .registers_per_thread = 64, .cluster_blocks = cluster});
    EXPECT_DOUBLE_EQ(got.fraction, 0.5) << cluster;
    EXPECT_EQ(got.limiter, "registers") << cluster;
    EXPECT_EQ(got.doubt, "") << cluster;
  }
}

// One block of 12 warps each: of 132 blocks 16 clusters of 8 take 128, 8 of 16 likewise, and 33 of
// 4 take all, unless a GPC has a number of multiprocessors that 4 does not divide.
TEST(Occupancy, BlocksOfNoWholeClusterAreLeftOut) {
  const Architecture& hopper = architecture("sm_90");
  const auto in_clusters = [&](int blocks) {
    return occupancy(hopper,
                     {.threads = 384, .registers_per_thread = 168, .cluster_blocks = blocks});
  };
  for (const int cluster : {8, 16}) {
    EXPECT_DOUBLE_EQ(in_clusters(cluster).fraction, 12. / 64 * 128 / 132) << cluster;
    EXPECT_EQ(in_clusters(cluster).limiter, "clusters") << cluster;
    EXPECT_THAT(in_clusters(cluster).doubt, testing::HasSubstr("GPC")) << cluster;
  }
  EXPECT_DOUBLE_EQ(in_clusters(4).fraction, 12. / 64);
  EXPECT_EQ(in_clusters(4).limiter, "registers");
  EXPECT_THAT(in_clusters(4).doubt, testing::HasSubstr("GPC"));
  EXPECT_EQ(in_clusters(2).doubt, "");
}

// 16 blocks of 4 warps on their own.
TEST(Occupancy, AMultiprocessorHoldsEightBlocksOfClusters) {
  const Architecture& hopper = architecture("sm_90");
  const auto of_size = [&](int threads) {
    return occupancy(hopper, {.threads = threads, .cluster_blocks = 2});
  };
  EXPECT_EQ(of_size(128).blocks_per_multiprocessor, 8);
  EXPECT_DOUBLE_EQ(of_size(128).fraction, 0.5);
  EXPECT_EQ(of_size(128).limiter, "clusters");
  EXPECT_EQ(of_size(128).doubt, "");
  EXPECT_EQ(of_size(256).limiter, "warps+clusters");
  EXPECT_EQ(of_size(288).limiter, "warps");
}

TEST(Occupancy, RefusesWhatIsNoBlock) {
  const Architecture& hopper = architecture("sm_90");
  EXPECT_THROW(occupancy(hopper, {.threads = 0}), std::invalid_argument);
  EXPECT_THROW(occupancy(hopper, {.threads = -32}), std::invalid_argument);
  EXPECT_THROW(occupancy(hopper, {.threads = 32, .registers_per_thread = -1}),
               std::invalid_argument);
  EXPECT_THROW(occupancy(Architecture{.major = 99}, {.threads = 32}), std::invalid_argument);
}

}  // namespace
}  // namespace warpgauge::metrics::occupancy_test
