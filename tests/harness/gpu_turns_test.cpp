// Turns of processes that wait, die and end.
#include "harness/process/gpu_turns.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>

namespace warpgauge::process::gpu_turns_test {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kLong{5000}, kShort{50};

/// A process that has its turn, and ends when `end` is written to or closed.
pid_t fork_with_turn(const GpuTurns& turns, int (&begun)[2], int (&end)[2]) {
  EXPECT_EQ(pipe(begun), 0);
  EXPECT_EQ(pipe(end), 0);
  const pid_t child = fork();
  if (child != 0) return child;
  close(end[1]);
  const GpuTurn turn(turns, kLong);
  char byte = 0;
  static_cast<void>(write(begun[1], "b", 1) == read(end[0], &byte, 1));
  _exit(0);
}

class TurnsOfProcesses : public testing::Test {
 protected:
  TurnsOfProcesses() : child_(fork_with_turn(turns_, begun_, end_)) {
    char byte = 0;
    EXPECT_EQ(read(begun_[0], &byte, 1), 1);
  }
  ~TurnsOfProcesses() override {
    for (const int fd : {begun_[0], begun_[1], end_[0], end_[1]}) close(fd);
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }

  milliseconds waited(milliseconds patience) {
    const auto before = Clock::now();
    turn_.emplace(turns_, patience);
    return std::chrono::duration_cast<milliseconds>(Clock::now() - before);
  }

  GpuTurns turns_;
  int begun_[2], end_[2];
  pid_t child_;
  std::optional<GpuTurn> turn_;
};

TEST_F(TurnsOfProcesses, WhoHasWaitedForLongEnoughGoesOn) { EXPECT_GE(waited(kShort), kShort); }

TEST_F(TurnsOfProcesses, TheTurnOfAProcessThatDiesIsOver) {
  kill(child_, SIGKILL);
  EXPECT_LT(waited(kLong), kLong);
}

TEST_F(TurnsOfProcesses, ATurnEndsWithItsScope) {
  EXPECT_EQ(write(end_[1], "e", 1), 1);
  EXPECT_LT(waited(kLong), kLong);
  turn_.reset();
  int begun[2], end[2];
  const pid_t next = fork_with_turn(turns_, begun, end);
  char byte = 0;
  EXPECT_EQ(read(begun[0], &byte, 1), 1);
  EXPECT_GE(waited(kShort), kShort);
  kill(next, SIGKILL);
  waitpid(next, nullptr, 0);
  for (const int fd : {begun[0], begun[1], end[0], end[1]}) close(fd);
}

TEST(GpuTurns, NeedNoStandardInput) {
  const int before = dup(STDIN_FILENO);
  close(STDIN_FILENO);
  {
    const GpuTurns turns;  // takes its number
    const GpuTurn turn(turns, kShort);
  }
  if (before < 0) return;
  EXPECT_EQ(dup2(before, STDIN_FILENO), STDIN_FILENO);
  close(before);
}

}  // namespace
}  // namespace warpgauge::process::gpu_turns_test
