#include "harness/process/isolate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <thread>
#include <vector>

namespace warpgauge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

struct Outcome {
  std::vector<std::size_t> done;
  std::map<std::size_t, std::string> died;
};

Outcome run(std::size_t count, std::function<bool(std::size_t)> work) {
  Outcome outcome;
  process::run_isolated(
      {.count = count,
       .time_limit = std::chrono::seconds(1),
       .begin = [] {},
       .work = std::move(work),
       .done = [&](std::size_t item) { outcome.done.push_back(item); },
       .died = [&](const process::CrashedItem& c) { outcome.died[c.item] = c.reason; }});
  return outcome;
}

TEST(Isolate, WorksThroughAllItems) {
  const Outcome outcome = run(3, [](std::size_t) { return true; });
  EXPECT_THAT(outcome.done, ElementsAre(0, 1, 2));
  EXPECT_TRUE(outcome.died.empty());
}

TEST(Isolate, ACrashCostsOneItem) {
  const Outcome outcome = run(4, [](std::size_t item) {
    if (item == 1) std::raise(SIGABRT);
    if (item == 2) std::_Exit(7);
    return true;
  });
  EXPECT_THAT(outcome.done, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(outcome.died, ElementsAre(Pair(1, HasSubstr("SIGABRT")),
                                        Pair(2, HasSubstr("ended with status 7"))));
}

TEST(Isolate, AHangIsEndedByTheTimeLimit) {
  const Outcome outcome = run(2, [](std::size_t item) {
    if (item == 0) std::this_thread::sleep_for(std::chrono::minutes(10));
    return true;
  });
  EXPECT_THAT(outcome.done, ElementsAre(0, 1));
  EXPECT_THAT(outcome.died, ElementsAre(Pair(0, HasSubstr("time limit of 1 s exceeded"))));
}

TEST(Isolate, AHangThatHasClosedAllFilesIsEndedByTheTimeLimit) {
  const Outcome outcome = run(2, [](std::size_t item) {
    if (item != 0) return true;
    for (int fd = 0; fd < 1024; ++fd) close(fd);
    std::this_thread::sleep_for(std::chrono::seconds(10));
    return true;
  });
  EXPECT_THAT(outcome.done, ElementsAre(0, 1));
  EXPECT_THAT(outcome.died, ElementsAre(Pair(0, HasSubstr("time limit of 1 s exceeded"))));
}

TEST(Isolate, WritingToTheDescriptorsOfOthersCostsOneItem) {
  const Outcome outcome = run(3, [](std::size_t item) {
    for (int fd = 3; item == 1 && fd < 64; ++fd) {
      struct stat status {};
      if (fstat(fd, &status) != 0 || !S_ISSOCK(status.st_mode)) continue;
      EXPECT_EQ(write(fd, "as long as a message is ", 24), 24);
    }
    return true;
  });
  EXPECT_THAT(outcome.done, ElementsAre(0, 1, 2));
  EXPECT_THAT(outcome.died, ElementsAre(Pair(1, HasSubstr("its code wrote to descriptor "))));
}

TEST(Isolate, ACopyThatComesBackCostsOneItem) {
  const Outcome outcome = run(3, [](std::size_t item) {
    if (item == 1) fork();
    return true;
  });
  EXPECT_THAT(outcome.done, ElementsAre(0, 1, 2));
  EXPECT_THAT(outcome.died, ElementsAre(Pair(1, HasSubstr("its code called fork()"))));
}

TEST(Isolate, AWornOutProcessIsReplaced) {
  std::vector<std::size_t> done;
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  process::run_isolated({.count = 3,
                         .begin = [&] { ASSERT_EQ(write(pipe_ends[1], "b", 1), 1); },
                         .work = [](std::size_t) { return false; },
                         .done = [&](std::size_t item) { done.push_back(item); },
                         .died = [](const process::CrashedItem&) { FAIL(); }});
  char begun[8];
  EXPECT_EQ(read(pipe_ends[0], begun, sizeof begun), 3) << "one process for each item";
  EXPECT_THAT(done, ElementsAre(0, 1, 2));
}

TEST(Isolate, WhatIsPrintedIsNoneOfTheResults) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  run(1, [](std::size_t) { return std::puts("hello from a kernel") >= 0; });
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "hello from a kernel\n");
}

TEST(Isolate, ABeginningThatFailsIsReportedNotRepeatedForever) {
  EXPECT_THROW(process::run_isolated({.count = 2,
                                      .begin = [] { throw std::runtime_error("cannot"); },
                                      .work = [](std::size_t) { return true; },
                                      .done = [](std::size_t) {},
                                      .died = [](const process::CrashedItem&) {}}),
               std::runtime_error);
}

}  // namespace
}  // namespace warpgauge
