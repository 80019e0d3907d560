// What launches with equal arguments moved.
#include "harness/emulator/counting/equal_launches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace warpgauge::emulator::counting::equal_launches_test {
namespace {

class EqualLaunchesTest : public testing::Test {
 protected:
  std::optional<EqualLaunches::Sectors> add(std::uint64_t sectors, std::uint64_t argument = 1,
                                            std::uint32_t blocks = 4) {
    const std::array<std::uint64_t, 1> arguments = {argument};
    const metrics::Launch launch{.grid = {blocks, 1, 1}, .block = {256, 1, 1}};
    return launches_.add("scale", launch, std::as_bytes(std::span(arguments)), sectors);
  }
  EqualLaunches launches_;
};

TEST_F(EqualLaunchesTest, SayNothingWhereAllMovedTheSame) {
  EXPECT_EQ(add(128), std::nullopt);
  EXPECT_EQ(add(128), std::nullopt);
}

TEST_F(EqualLaunchesTest, GiveTheFewestAndTheMost) {
  add(128);
  EXPECT_EQ(add(0), (EqualLaunches::Sectors{0, 128}));
  EXPECT_EQ(add(130), (EqualLaunches::Sectors{0, 130}));
  EXPECT_EQ(add(64), (EqualLaunches::Sectors{0, 130}));
}

TEST_F(EqualLaunchesTest, LeaveOtherArgumentsAndShapesAlone) {
  add(128);
  EXPECT_EQ(add(64, 2), std::nullopt);
  EXPECT_EQ(add(256, 1, 8), std::nullopt);
}

TEST_F(EqualLaunchesTest, GiveTheFewestAndTheMostOfAKernelsArguments) {
  EXPECT_TRUE(launches_.unequal().empty());
  for (const std::uint64_t sectors : {128, 64}) add(sectors);
  for (const std::uint64_t sectors : {32, 48}) add(sectors, 2);
  add(512, 3);
  EXPECT_THAT(launches_.unequal(),
              testing::ElementsAre(testing::Pair("scale", EqualLaunches::Sectors{32, 128})));
}

TEST_F(EqualLaunchesTest, KeepSoManyKindsOfLaunches) {
  for (std::uint64_t n = 0; n < 10'000; ++n) add(1, n);
  EXPECT_EQ(add(1, 10'000), std::nullopt);
  EXPECT_EQ(add(2, 10'000), std::nullopt) << "which is not kept";
  EXPECT_EQ(add(2, 9'999), (EqualLaunches::Sectors{1, 2}));
}

}  // namespace
}  // namespace warpgauge::emulator::counting::equal_launches_test
