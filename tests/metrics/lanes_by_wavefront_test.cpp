// Wavefronts of accesses: as many as the counting rules say, and in each a bank serves one word.
#include "metrics/counting/lanes_by_wavefront.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace warpgauge::metrics::lanes_by_wavefront_test {
namespace {

using ::testing::ElementsAre;

constexpr std::uint32_t kAll = 0xffffffff;

template <typename Address>
WarpAccess access_of(AccessKind kind, int width, Address address, std::uint32_t mask = kAll) {
  WarpAccess access{.kind = kind, .width = width, .mask = mask};
  for (std::uint32_t lane = 0; lane < 32; ++lane) access.addresses[lane] = address(lane);
  return access;
}

WarpAccess strided(AccessKind kind, int width, std::uint32_t stride, std::uint32_t mask = kAll) {
  return access_of(kind, width, [=](std::uint32_t lane) { return stride * lane; }, mask);
}

std::uint32_t counted(const WarpAccess& access) {
  std::array<std::uint32_t, 32> addresses;
  for (std::size_t lane = 0; lane < 32; ++lane) {
    addresses[lane] = static_cast<std::uint32_t>(access.addresses[lane]);
  }
  return shared_cost(access.kind, access.width, addresses.data(), access.mask).wavefronts;
}

bool lanes_share(AccessKind kind) {
  return kind != AccessKind::shared_atomic && kind != AccessKind::shared_cas;
}

/// Every word that a lane wants is in one wavefront, and with it only lanes that want the same.
void expect_served(const WarpAccess& access, const Wavefronts& wavefronts) {
  const int words = access.width <= 4 ? 1 : access.width / 4;
  std::array<int, 32> served{};
  for (const Wavefront& wavefront : wavefronts.list) {
    for (std::uint32_t bank = 0; bank < 32; ++bank) {
      const std::uint32_t lanes = wavefront.lanes[bank];
      EXPECT_EQ(lanes & ~wavefront.group, 0u);
      EXPECT_TRUE(lanes_share(access.kind) || std::popcount(lanes) <= 1);
      const int first = std::countr_zero(lanes);
      for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
        ++served[lane];
        const std::uint64_t begin = access.addresses[lane] / 4;
        EXPECT_LT((bank - begin) % 32, static_cast<std::uint64_t>(words));
        EXPECT_EQ(access.addresses[lane] / 128,
                  access.addresses[static_cast<std::size_t>(first)] / 128);
      }
    }
  }
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(served[lane], (access.mask >> lane & 1) != 0 ? words : 0) << "lane " << lane;
  }
}

TEST(Wavefronts, OfAColumnServeOneLaneEach) {
  const Wavefronts wavefronts = wavefronts_of(strided(AccessKind::shared_load, 4, 128));
  ASSERT_EQ(wavefronts.list.size(), 32u);
  for (std::size_t n = 0; n < 32; ++n) {
    EXPECT_EQ(wavefronts.list[n].group, kAll);
    EXPECT_EQ(wavefronts.list[n].lanes[0], 1u << n);
    EXPECT_EQ(wavefronts.list[n].lanes[1], 0u);
  }
}

TEST(Wavefronts, OfOneWordServeAllLanesAtOnce) {
  const Wavefronts loads = wavefronts_of(strided(AccessKind::shared_load, 4, 0));
  ASSERT_EQ(loads.list.size(), 1u);
  EXPECT_EQ(loads.list[0].lanes[0], kAll);
  EXPECT_EQ(wavefronts_of(strided(AccessKind::shared_atomic, 4, 0)).list.size(), 32u);
}

TEST(Wavefronts, OfWideAccessesGoGroupByGroup) {
  const auto groups = [](const WarpAccess& access) {
    std::vector<std::uint32_t> result;
    for (const Wavefront& wavefront : wavefronts_of(access).list) result.push_back(wavefront.group);
    return result;
  };
  EXPECT_THAT(groups(strided(AccessKind::shared_store, 8, 8)), ElementsAre(0xffff, 0xffff0000));
  EXPECT_THAT(groups(strided(AccessKind::shared_store, 16, 16)),
              ElementsAre(0xff, 0xff00, 0xff0000, 0xff000000));
  EXPECT_THAT(groups(strided(AccessKind::shared_load, 16, 0)), ElementsAre(0xffff, 0xffff0000));
  const auto in_pairs = [](std::uint32_t lane) { return lane / 2 * 8; };
  EXPECT_THAT(groups(access_of(AccessKind::shared_load, 8, in_pairs)), ElementsAre(kAll));
  EXPECT_THAT(groups(access_of(AccessKind::shared_store, 8, in_pairs)),
              ElementsAre(0xffff, 0xffff0000));
}

TEST(Wavefronts, OfCompareAndSwapCountTwice) {
  const Wavefronts wavefronts = wavefronts_of(strided(AccessKind::shared_cas, 4, 128));
  EXPECT_EQ(wavefronts.list.size(), 32u);
  EXPECT_EQ(wavefronts.executions, 2u);
}

TEST(Wavefronts, OfCopiesHaveNoKnownLanes) {
  const Wavefronts copy = wavefronts_of(strided(AccessKind::async_copy, 4, 128));
  EXPECT_FALSE(copy.lanes_known);
  EXPECT_EQ(copy.list.size(), 32u);
  WarpAccess loop = strided(AccessKind::shared_atomic, 4, 4);
  loop.cas_loop = true;
  EXPECT_FALSE(wavefronts_of(loop).lanes_known);
}

TEST(Wavefronts, OfNoLanesAreNone) {
  EXPECT_TRUE(wavefronts_of(strided(AccessKind::shared_load, 4, 4, 0)).list.empty());
}

struct Shape {
  AccessKind kind;
  int width;
};

class WavefrontsOfAnything : public testing::TestWithParam<Shape> {};

TEST_P(WavefrontsOfAnything, AreAsManyAsTheRuleCounts) {
  const auto [kind, width] = GetParam();
  const auto bytes = static_cast<std::uint32_t>(width);
  std::mt19937 generator(7);
  const auto random = [&] { return static_cast<std::uint32_t>(generator()); };
  for (int round = 0; round < 3000; ++round) {
    const std::uint32_t slots = 1u << (random() % 11);
    const std::uint32_t together = 1u << (random() % 5);  // lanes with one address
    const std::uint32_t stride = random() % 40;
    const bool scattered = random() % 2 == 0;
    const std::uint32_t mask = random() % 2 == 0 ? kAll : random();
    const WarpAccess access = access_of(
        kind, width,
        [&](std::uint32_t lane) {
          const std::uint32_t slot = scattered ? random() % slots : lane / together * stride;
          return slot * bytes;
        },
        mask);
    const Wavefronts wavefronts = wavefronts_of(access);
    ASSERT_TRUE(wavefronts.lanes_known) << "round " << round;
    ASSERT_EQ(wavefronts.list.size() * wavefronts.executions, counted(access)) << "round " << round;
    expect_served(access, wavefronts);
    if (HasFailure()) FAIL() << "round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(
    , WavefrontsOfAnything,
    testing::Values(Shape{AccessKind::shared_load, 1}, Shape{AccessKind::shared_load, 4},
                    Shape{AccessKind::shared_load, 8}, Shape{AccessKind::shared_load, 16},
                    Shape{AccessKind::shared_store, 2}, Shape{AccessKind::shared_store, 4},
                    Shape{AccessKind::shared_store, 8}, Shape{AccessKind::shared_store, 16},
                    Shape{AccessKind::shared_atomic, 4}, Shape{AccessKind::shared_atomic, 8},
                    Shape{AccessKind::shared_popc_increment, 4}, Shape{AccessKind::shared_cas, 4},
                    Shape{AccessKind::shared_cas, 8}, Shape{AccessKind::ldmatrix, 16},
                    Shape{AccessKind::stmatrix, 16}),
    [](const auto& test) {
      return "kind" + std::to_string(static_cast<int>(test.param.kind)) + "_width" +
             std::to_string(test.param.width);
    });

TEST(ShowsMore, RanksByWasteThenByAllThenByLanesThenByBlock) {
  const WarpAccess base{.mask = 0xff, .taken = 4, .ideal = 2, .block_number = 5};
  WarpAccess other = base;
  EXPECT_FALSE(shows_more(other, base));
  other.block_number = 4;
  EXPECT_TRUE(shows_more(other, base));
  other.block_number = 6;
  EXPECT_FALSE(shows_more(other, base));
  other.mask = 0x1ff;
  EXPECT_TRUE(shows_more(other, base));
  other.mask = 1;
  other.taken = 5;
  other.ideal = 3;
  EXPECT_TRUE(shows_more(other, base));
  other.taken = 40;
  other.ideal = 39;
  EXPECT_FALSE(shows_more(other, base));
}

}  // namespace
}  // namespace warpgauge::metrics::lanes_by_wavefront_test
