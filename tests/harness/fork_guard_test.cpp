// Forks in code of the user that come back, end or stay.
#include "harness/process/fork_guard.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <stdexcept>
#include <string>

namespace warpgauge::fork_guard_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string refusal(const std::function<void()>& call) {
  try {
    process::with_fork_guard("the case", call);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(OneProcess, CallsOnceAndLetsExceptionsPass) {
  int calls = 0;
  EXPECT_EQ(refusal([&] { ++calls; }), "");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(refusal([] { throw std::runtime_error("as it is"); }), "as it is");
}

TEST(OneProcess, ACopyThatComesBackIsRefusedAndEnds) {
  pid_t copy = 0;
  const std::string why = refusal([&] { copy = fork(); });
  EXPECT_EQ(why,
            "the case called fork(), and the child process came back from it as well: end the "
            "child with _exit() where its work is done");
  EXPECT_EQ(waitpid(copy, nullptr, 0), copy);
}

TEST(OneProcess, ACopyThatComesBackLateOrByAnExceptionIsRefused) {
  EXPECT_THAT(refusal([] {
                if (fork() == 0) usleep(200'000);
              }),
              HasSubstr("came back"));
  EXPECT_THAT(refusal([] {
                if (fork() == 0) throw std::runtime_error("in the child");
              }),
              HasSubstr("came back"));
}

TEST(OneProcess, ACopyEndsWhereItIsAskedTo) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_THAT(refusal([&] {
                fork();
                process::end_if_copy();
                EXPECT_EQ(write(ends[1], "x", 1), 1);
              }),
              HasSubstr("came back"));
  char text[8];
  EXPECT_EQ(read(ends[0], text, sizeof text), 1) << "of this process alone";
}

TEST(OneProcess, ACopyThatEndsByItselfIsAllRight) {
  EXPECT_EQ(refusal([] {
              const pid_t copy = fork();
              if (copy == 0) {
                usleep(100'000);
                _exit(0);
              }
            }),
            "");
}

TEST(OneProcess, ACopyThatStaysIsRefused) {
  pid_t copy = 0;
  const std::string why = refusal([&] {
    copy = fork();
    while (copy == 0) pause();
  });
  EXPECT_EQ(why,
            "the case called fork(), and the child process still runs: wait for its end with "
            "waitpid()");
  kill(copy, SIGKILL);
  waitpid(copy, nullptr, 0);
}

TEST(OneProcess, AnInnerCallEndsTheCopyOfAnOuterOne) {
  EXPECT_THAT(refusal([] {
                fork();
                process::with_fork_guard("another case", [] {});
              }),
              StartsWith("the case called fork()"));
}

TEST(OneProcess, CodeThatWritesToOrClosesAllDescriptorsIsNotTakenForACopy) {
  const int before = open("/dev/null", O_RDONLY);  // the next ones are of the call
  EXPECT_EQ(refusal([&] {
              for (int fd = before + 1; fd < before + 8; ++fd) {
                if (fcntl(fd, F_GETFL) != -1) static_cast<void>(!write(fd, "junk", 4));
              }
            }),
            "");
  EXPECT_EQ(refusal([&] {
              for (int fd = before + 1; fd < before + 8; ++fd) close(fd);
            }),
            "");
  close(before);
}

}  // namespace
}  // namespace warpgauge::fork_guard_test
