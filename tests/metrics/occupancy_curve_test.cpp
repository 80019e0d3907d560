// Curves of theoretical occupancy: their ends, their points, and values worked out by hand.
#include "metrics/architecture/occupancy_curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace warpgauge::metrics::occupancy_curve_test {
namespace {

const BlockNeeds kNeeds{.threads = 384, .registers_per_thread = 63, .shared_dynamic_bytes = 1000};

double at(const std::vector<OccupancyPoint>& curve, std::uint64_t amount) {
  const auto found = std::ranges::find(curve, amount, &OccupancyPoint::amount);
  if (found != curve.end()) return found->occupancy.fraction;
  ADD_FAILURE() << "no point at " << amount;
  return -1;
}

class EachResource : public testing::TestWithParam<BlockResource> {};

TEST_P(EachResource, PointsGrowAndTheBlockItselfIsAmongThem) {
  for (const Architecture& arch : architectures()) {
    const auto curve = occupancy_over(GetParam(), arch, kNeeds);
    EXPECT_TRUE(std::ranges::is_sorted(curve, {}, &OccupancyPoint::amount));
    EXPECT_GE(curve.size(), 20u) << arch.name();
    EXPECT_LE(curve.size(), 34u) << arch.name();
    EXPECT_EQ(at(curve, amount_of(GetParam(), kNeeds)), occupancy(arch, kNeeds).fraction);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EachResource,
                         testing::Values(BlockResource::threads, BlockResource::registers,
                                         BlockResource::shared),
                         [](const auto& info) { return std::string(to_string(info.param)); });

TEST(OccupancyCurve, MoreOfARegisterOrAByteNeverFillsMore) {
  for (const BlockResource resource : {BlockResource::registers, BlockResource::shared}) {
    for (const Architecture& arch : architectures()) {
      double last = 1;
      for (const OccupancyPoint& point : occupancy_over(resource, arch, kNeeds)) {
        EXPECT_LE(point.occupancy.fraction, last) << arch.name() << " at " << point.amount;
        last = point.occupancy.fraction;
      }
    }
  }
}

TEST(OccupancyCurve, OverRegistersByHand) {
  // 8 warps a block: 65536 registers / (8 x 32 lanes) are 256 for a thread of one block, 128 of
  // two.
  const auto curve = occupancy_over(BlockResource::registers, architecture("sm_90"),
                                    {.threads = 256, .registers_per_thread = 40});
  EXPECT_EQ(curve.front().amount, 8u);
  EXPECT_EQ(curve.back().amount, 255u);
  EXPECT_DOUBLE_EQ(at(curve, 32), 1);          // 8 blocks, 64 warps
  EXPECT_DOUBLE_EQ(at(curve, 40), 48. / 64);   // 6 blocks
  EXPECT_DOUBLE_EQ(at(curve, 128), 16. / 64);  // 2 blocks
  EXPECT_DOUBLE_EQ(at(curve, 255), 8. / 64);   // 1 block
}

TEST(OccupancyCurve, OverSharedMemoryByHand) {
  // 228 KiB; the system takes 1 KiB for each block.
  const BlockNeeds needs{.threads = 1024, .registers_per_thread = 16, .shared_static_bytes = 8192};
  const auto curve = occupancy_over(BlockResource::shared, architecture("sm_90"), needs);
  EXPECT_EQ(curve.front().amount, 0u);
  EXPECT_EQ(curve.back().amount, 227u * 1024);
  EXPECT_DOUBLE_EQ(at(curve, 8192), 1);          // 2 blocks
  EXPECT_DOUBLE_EQ(at(curve, 112 * 1024), 1);    // 2 x 113 KiB
  EXPECT_DOUBLE_EQ(at(curve, 120 * 1024), 0.5);  // 2 x 121 KiB are more than 228
}

TEST(OccupancyCurve, HasTheAmountThatABlockNeeds) {
  const BlockNeeds needs{.threads = 96,
                         .registers_per_thread = 41,
                         .shared_static_bytes = 1000,
                         .shared_dynamic_bytes = 234};
  EXPECT_EQ(amount_of(BlockResource::threads, needs), 96u);
  EXPECT_EQ(amount_of(BlockResource::registers, needs), 41u);
  EXPECT_EQ(amount_of(BlockResource::shared, needs), 1234u) << "static and dynamic";
}

TEST(OccupancyCurve, OverThreadsByHand) {
  const auto curve = occupancy_over(BlockResource::threads, architecture("sm_90"),
                                    {.threads = 100, .registers_per_thread = 16});
  EXPECT_DOUBLE_EQ(at(curve, 32), 0.5);        // 32 blocks of a warp
  EXPECT_DOUBLE_EQ(at(curve, 100), 1);         // 16 blocks of 4 warps
  EXPECT_DOUBLE_EQ(at(curve, 1024), 1);        // 2 blocks
  EXPECT_DOUBLE_EQ(at(curve, 768), 48. / 64);  // 2 blocks of 24 warps
}

TEST(OccupancyCurve, RefusesWhatIsNoBlock) {
  EXPECT_THROW(occupancy_over(BlockResource::threads, architecture("sm_90"), {.threads = 0}),
               std::invalid_argument);
}

}  // namespace
}  // namespace warpgauge::metrics::occupancy_curve_test
