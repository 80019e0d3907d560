// Items that crash, hang and print in processes of a pool.
#include "harness/process/worker_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

namespace warpgauge::worker_pool_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

struct Outcome {
  std::vector<std::size_t> done;
  std::map<std::size_t, std::string> died;
};

using process::ItemEnd;
using process::WorkOrder;

/// Of work that says whether its process can go on.
std::function<ItemEnd(const WorkOrder&)> ending(std::function<bool(std::size_t)> work) {
  return [work = std::move(work)](const WorkOrder& order) {
    return work(order.item) ? ItemEnd::done : ItemEnd::done_with_last;
  };
}

Outcome run(std::size_t count, std::function<bool(std::size_t)> work) {
  Outcome outcome;
  process::run_isolated(
      {.count = count,
       .time_limit = std::chrono::seconds(1),
       .begin = [] {},
       .work = ending(std::move(work)),
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
    if (item == 2) std::this_thread::sleep_for(std::chrono::milliseconds(200));  // it is heard
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
                         .work = ending([](std::size_t) { return false; }),
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
                                      .work = ending([](std::size_t) { return true; }),
                                      .done = [](std::size_t) {},
                                      .died = [](const process::CrashedItem&) {}}),
               std::runtime_error);
}

/// A number that all processes share.
std::shared_ptr<std::atomic<int>> shared_number() {
  void* memory = mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return {new (memory) std::atomic<int>(0),
          [](std::atomic<int>* number) { munmap(number, sizeof *number); }};
}

/// False after a second.
bool comes(const std::function<bool()>& what) {
  for (int i = 0; i < 1000 && !what(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return what();
}

Outcome run_in_processes(std::size_t count, std::size_t processes,
                         std::function<bool(std::size_t)> work,
                         std::function<std::vector<std::size_t>(std::size_t)> after = nullptr) {
  Outcome outcome;
  process::run_isolated(
      {.count = count,
       .time_limit = std::chrono::seconds(2),
       .after = std::move(after),
       .begin = [] {},
       .work = ending(std::move(work)),
       .done = [&](std::size_t item) { outcome.done.push_back(item); },
       .died = [&](const process::CrashedItem& c) { outcome.died[c.item] = c.reason; }},
      processes);
  std::ranges::sort(outcome.done);
  return outcome;
}

TEST(Isolate, SeveralProcessesWorkAtOnce) {
  const auto at_work = shared_number();
  const Outcome outcome = run_in_processes(6, 3, [&](std::size_t) {
    ++*at_work;
    if (!comes([&] { return *at_work >= 3; })) std::raise(SIGABRT);  // it was alone
    return true;
  });
  EXPECT_THAT(outcome.done, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_TRUE(outcome.died.empty());
}

TEST(Isolate, ACrashAmongSeveralProcessesCostsOneItem) {
  const Outcome outcome = run_in_processes(20, 4, [](std::size_t item) {
    if (item % 5 == 1) std::raise(SIGABRT);
    return item % 3 != 0;  // some are worn out, too
  });
  EXPECT_EQ(outcome.done.size(), 20u);
  EXPECT_THAT(outcome.died,
              ElementsAre(Pair(1, HasSubstr("SIGABRT")), Pair(6, HasSubstr("SIGABRT")),
                          Pair(11, HasSubstr("SIGABRT")), Pair(16, HasSubstr("SIGABRT"))));
}

TEST(Isolate, AnItemBeginsWhenThoseBeforeItAreDone) {
  const auto first_is_done = shared_number();
  const Outcome outcome = run_in_processes(
      4, 4,
      [&](std::size_t item) {
        if (item == 3 && *first_is_done == 0) std::raise(SIGABRT);
        if (item == 0) {
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
          *first_is_done = 1;
        }
        return true;
      },
      [](std::size_t item) {
        return item == 3 ? std::vector<std::size_t>{0} : std::vector<std::size_t>();
      });
  EXPECT_THAT(outcome.done, ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(outcome.died.empty());
}

TEST(Isolate, AnItemThatWaitsForALaterOneIsRefused) {
  EXPECT_THROW(run_in_processes(
                   2, 2, [](std::size_t) { return true; },
                   [](std::size_t item) { return std::vector<std::size_t>{1 - item}; }),
               std::logic_error);
}

TEST(Isolate, AProcessThatCannotBeginLeavesItsItemsToTheOthers) {
  const auto begun = shared_number();
  std::vector<std::size_t> done;
  process::run_isolated(
      {.count = 5,
       .begin =
           [&] {
             // Fails like a GPU without memory for more.
             if (++*begun > 1) throw std::runtime_error("cannot");
           },
       .work = ending([&](std::size_t) { return comes([&] { return *begun >= 3; }); }),
       .done = [&](std::size_t item) { done.push_back(item); },
       .died = [](const process::CrashedItem&) { FAIL(); }},
      3);
  EXPECT_THAT(done, ElementsAre(0, 1, 2, 3, 4));
}

/// Work that counts how many processes have begun, and items were worked on, and lists the items
/// that came back.
struct Counted {
  std::shared_ptr<std::atomic<int>> begun = shared_number(), worked = shared_number();
  std::vector<std::size_t> done;

  process::IsolatedWork work(std::size_t count) {
    return {.count = count,
            .begin = [this] { ++*begun; },
            .work = ending([this](std::size_t) { return ++*worked > 0; }),
            .done = [this](std::size_t item) { done.push_back(item); },
            .died = [](const process::CrashedItem&) { FAIL(); }};
  }
};

TEST(Isolate, ProcessesGetReadyBeforeTheWorkBegins) {
  Counted counted;
  process::IsolatedWork work = counted.work(4);
  work.skip = [](std::size_t item) { return item == 1; };
  process::WorkerPool pool(work, 2);
  EXPECT_TRUE(comes([&] { return *counted.begun == 2; }));
  EXPECT_EQ(*counted.worked, 0);
  pool.work_through(2);
  EXPECT_THAT(counted.done, UnorderedElementsAre(0, 2, 3));
  EXPECT_EQ(*counted.begun, 2);
  EXPECT_EQ(*counted.worked, 3);
}

TEST(Isolate, AnItemIsDoneAgainByANewProcessWhenNoOtherIsAtWork) {
  const auto at_work = shared_number(), alone = shared_number();
  int worked = 0;  // of each process
  std::vector<std::size_t> done;
  process::run_isolated(
      {.count = 6,
       .time_limit = std::chrono::seconds(2),
       .after =
           [](std::size_t item) {
             return item == 5 ? std::vector<std::size_t>{0} : std::vector<std::size_t>();
           },
       .begin = [] {},
       .work =
           [&](const WorkOrder& order) {
             const bool is_new = worked++ == 0;
             const int others = (*at_work)++;
             // Another one begins meanwhile, if it may.
             std::this_thread::sleep_for(std::chrono::milliseconds(50));
             if (order.is_again && is_new && others == 0 && *at_work == 1) ++*alone;
             --*at_work;
             return order.item < 2 && !order.is_again ? ItemEnd::again : ItemEnd::done;
           },
       .done = [&](std::size_t item) { done.push_back(item); },
       .died = [](const process::CrashedItem& crashed) { FAIL() << crashed.reason; }},
      3);
  EXPECT_EQ(*alone, 2);
  ASSERT_EQ(done.size(), 6u);
  EXPECT_THAT(std::vector(done.begin(), done.begin() + 3), UnorderedElementsAre(2, 3, 4));
  const auto place = [&](std::size_t item) { return std::ranges::find(done, item); };
  EXPECT_LT(place(0), place(5)) << "it waits for one that is done again";
}

TEST(Isolate, AnItemIsDoneAgainOnce) {
  const auto times = shared_number();
  std::vector<std::size_t> done;
  process::run_isolated({.count = 2,
                         .begin = [] {},
                         .work =
                             [&](const WorkOrder& order) {
                               if (order.item == 0) ++*times;
                               return order.item == 0 ? ItemEnd::again : ItemEnd::done;
                             },
                         .done = [&](std::size_t item) { done.push_back(item); },
                         .died = [](const process::CrashedItem&) { FAIL(); }});
  EXPECT_EQ(*times, 2);
  EXPECT_THAT(done, ElementsAre(1, 0));
}

TEST(Isolate, AProcessIsToldWhatIsKnownWhenItsItemBegins) {
  std::string known;
  const auto told = shared_number();
  process::WorkerPool pool(
      {.count = 2,
       .begin = [] {},
       .note = [&](std::size_t item) { return known + std::to_string(item); },
       .work =
           [&](const WorkOrder& order) {
             if (order.note == "long" + std::string(1 << 12, 'g') + std::to_string(order.item)) {
               ++*told;
             }
             return ItemEnd::done;
           },
       .done = [](std::size_t) {},
       .died = [](const process::CrashedItem&) { FAIL(); }},
      1);
  known = "long" + std::string(1 << 12, 'g');  // after the process was forked
  pool.work_through(1);
  EXPECT_EQ(*told, 2);
}

TEST(Isolate, AProcessGoesOnWithItsGroup) {
  const auto mixed = shared_number();
  int last = -1;  // of a process
  process::run_isolated({.count = 40,
                         .group = [](std::size_t item) { return item % 2; },
                         .begin = [] {},
                         .work = ending([&](std::size_t item) {
                           const int group = static_cast<int>(item % 2);
                           if (last != -1 && last != group) ++*mixed;
                           last = group;
                           std::this_thread::sleep_for(std::chrono::milliseconds(2));
                           return true;
                         }),
                         .done = [](std::size_t) {},
                         .died = [](const process::CrashedItem&) { FAIL(); }},
                        2);
  EXPECT_LE(*mixed, 1) << "at the end, when one group is done";
}

TEST(Isolate, AGroupHasSeveralProcessesWhereNoOtherIsLeft) {
  const auto at_work = shared_number(), most = shared_number();
  process::run_isolated({.count = 8,
                         .group = [](std::size_t) { return std::size_t{7}; },
                         .begin = [] {},
                         .work = ending([&](std::size_t) {
                           const int now = ++*at_work;
                           if (now > *most) *most = now;
                           const bool is_beside = comes([&] { return *most >= 2; });
                           --*at_work;
                           return is_beside;
                         }),
                         .done = [](std::size_t) {},
                         .died = [](const process::CrashedItem&) { FAIL(); }},
                        2);
  EXPECT_GE(*most, 2);
}

TEST(Isolate, ItemsAreReportedWithTheChildrenAtWork) {
  const auto begun = shared_number();
  std::vector<int> begun_at_report;
  process::run_isolated(
      {.count = 3,
       .begin = [] {},
       .work = ending([&](std::size_t) { return ++*begun > 0; }),
       .done =
           [&](std::size_t item) {
             const int next = std::min(static_cast<int>(item) + 2, 3);
             const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
             while (*begun < next && std::chrono::steady_clock::now() < deadline) {
               std::this_thread::yield();
             }
             begun_at_report.push_back(*begun);
           },
       .died = [](const process::CrashedItem&) { FAIL(); }});
  EXPECT_THAT(begun_at_report, ElementsAre(2, 3, 3));
}

TEST(Isolate, WhatIsAllSkippedBeginsNothing) {
  process::WorkerPool pool({.count = 2,
                            .skip = [](std::size_t) { return true; },
                            .begin = [] {},
                            .work = ending([](std::size_t) { return std::_Exit(3), true; }),
                            .done = [](std::size_t) { FAIL(); },
                            .died = [](const process::CrashedItem&) { FAIL(); }},
                           0);
  pool.work_through(1);
}

}  // namespace
}  // namespace warpgauge::worker_pool_test
