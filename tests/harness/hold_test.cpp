// Launches held back until all are queued, without a GPU: the word that the GPU would wait for.
#include "harness/bench/hold.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace warpgauge::hold_test {
namespace {

using namespace std::chrono_literals;
using bench::Hold;

constexpr auto kNever = 1h;

/// Waits for the word, as a GPU does that is held.
void wait_until(std::uint32_t& ended, std::uint32_t number) {
  while (std::atomic_ref(ended).load() < number) std::this_thread::sleep_for(1ms);
}

TEST(Hold, EndsWhenItIsTold) {
  std::uint32_t ended = 0;
  Hold hold(ended, kNever);
  for (std::uint32_t number : {1, 2, 3}) {
    EXPECT_EQ(hold.begin(), number);
    EXPECT_EQ(ended, number - 1);
    EXPECT_TRUE(hold.end());
    EXPECT_EQ(ended, number);
  }
  EXPECT_TRUE(hold.works());
}

TEST(Hold, EndsByItselfWhereTheHostWaitsForWhatIsHeld) {
  std::uint32_t ended = 0;
  Hold hold(ended, 5ms);
  wait_until(ended, hold.begin());  // hangs if it does not
  EXPECT_FALSE(hold.end());
  EXPECT_TRUE(hold.works());  // the host may have slept
  wait_until(ended, hold.begin());
  EXPECT_FALSE(hold.end());
  EXPECT_FALSE(hold.works());
}

TEST(Hold, LastsForTheLimit) {
  std::uint32_t ended = 0;
  Hold hold(ended, 200ms);
  std::this_thread::sleep_for(100ms);  // in the middle of what the watch sleeps
  const auto begun = std::chrono::steady_clock::now();
  wait_until(ended, hold.begin());
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 200ms);
}

TEST(Hold, OneThatEndedByItselfIsForgottenAfterOneThatDidNot) {
  std::uint32_t ended = 0;
  Hold hold(ended, 100ms);
  for (int i = 0; i < 2; ++i) {
    wait_until(ended, hold.begin());
    EXPECT_FALSE(hold.end());
    EXPECT_TRUE(hold.works());
    hold.begin();
    EXPECT_TRUE(hold.end());
  }
}

TEST(Hold, WorksAgainForSomethingElse) {
  std::uint32_t ended = 0;
  Hold hold(ended, 5ms);
  for (int i = 0; i < 2; ++i) {
    wait_until(ended, hold.begin());
    EXPECT_FALSE(hold.end());
  }
  EXPECT_FALSE(hold.works());
  hold.forget();
  EXPECT_TRUE(hold.works());
}

TEST(Hold, WhatAnExceptionHasLeftEndsWithTheNextAndWithTheHold) {
  std::uint32_t ended = 0;
  {
    Hold hold(ended, kNever);
    EXPECT_EQ(hold.begin(), 1);
    EXPECT_EQ(hold.begin(), 2);
    EXPECT_EQ(ended, 1);
  }
  EXPECT_EQ(ended, 2);
}

}  // namespace
}  // namespace warpgauge::hold_test
