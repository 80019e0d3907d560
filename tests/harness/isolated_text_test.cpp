// Texts from child processes that end, crash and hang.
#include "harness/process/isolated_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <stdexcept>
#include <thread>

namespace warpgauge::isolated_text_test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using namespace std::chrono_literals;

TEST(IsolatedText, ComesBack) {
  EXPECT_EQ(process::isolated_text([] { return "two\nlines"; }, 10s), "two\nlines");
  EXPECT_EQ(process::isolated_text([] { return ""; }, 10s), "");
}

TEST(IsolatedText, IsCutOffWhereItGetsTooLong) {
  EXPECT_EQ(process::isolated_text([] { return std::string(100'000, 'x'); }, 10s),
            std::string(65536, 'x'));
}

TEST(IsolatedText, WhatIsThrownIsThrownAgain) {
  EXPECT_THAT(
      [] {
        process::isolated_text([]() -> std::string { throw std::logic_error("no such thing"); },
                               10s);
      },
      ThrowsMessage<std::runtime_error>("no such thing"));
}

TEST(IsolatedText, ADeathIsReported) {
  const auto die = []() -> std::string {
    std::raise(SIGKILL);
    return "alive";
  };
  EXPECT_THAT([&] { process::isolated_text(die, 10s); },
              ThrowsMessage<std::runtime_error>(HasSubstr("killed by SIGKILL")));
}

TEST(IsolatedText, AHangIsReported) {
  const auto hang = []() -> std::string {
    std::this_thread::sleep_for(1h);
    return "awake";
  };
  EXPECT_THAT([&] { process::isolated_text(hang, 1s); },
              ThrowsMessage<std::runtime_error>(HasSubstr("time limit of 1 s exceeded")));
}

}  // namespace
}  // namespace warpgauge::isolated_text_test
