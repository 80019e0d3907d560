// How often counts are taken, on a clock that is made up.
#include "harness/attach/taking_pace.h"

#include <gtest/gtest.h>

#include <chrono>

namespace warpgauge::attach::taking_pace_test {
namespace {

using namespace std::chrono_literals;

constexpr TakingPace::Clock::time_point kBegin{1h};

TEST(TakingPace, AllowsTheFirstAtOnce) {
  const TakingPace pace;
  EXPECT_TRUE(pace.allows(kBegin));
}

TEST(TakingPace, SpendsATwentiethOfTheTime) {
  TakingPace pace;
  pace.taken(kBegin, kBegin + 1s);
  EXPECT_FALSE(pace.allows(kBegin + 1s));
  EXPECT_FALSE(pace.allows(kBegin + 20s - 1ns));
  EXPECT_TRUE(pace.allows(kBegin + 20s));
}

TEST(TakingPace, GoesByTheLastTaking) {
  TakingPace pace;
  pace.taken(kBegin, kBegin + 10s);
  pace.taken(kBegin + 200s, kBegin + 200s + 1ms);
  EXPECT_FALSE(pace.allows(kBegin + 200s + 19ms));
  EXPECT_TRUE(pace.allows(kBegin + 200s + 20ms));
}

TEST(TakingPace, NeverWaitsWhereItCostsNothing) {
  TakingPace pace;
  pace.taken(kBegin, kBegin);
  EXPECT_TRUE(pace.allows(kBegin));
}

}  // namespace
}  // namespace warpgauge::attach::taking_pace_test
