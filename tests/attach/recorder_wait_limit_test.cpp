// Processes that wait for longer than they may.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "harness/attach/wait_limit.h"

namespace warpgauge::attach::wait_limit_test {
namespace {

using namespace std::chrono_literals;

class WaitLimitTest : public testing::Test {
 protected:
  ~WaitLimitTest() override { std::filesystem::remove_all(folder_); }

  /// The signal that ends a process which calls `use` with a limit of a second, or 0.
  template <typename Use>
  int signal_of(Use use) {
    process_ = fork();
    if (process_ == 0) {
      WaitLimit limit(1s, folder_);
      limit.launches("first");
      limit.launches("last");
      use(limit);
      _exit(0);
    }
    int status = 0;
    waitpid(process_, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

  std::string kernel() const {
    std::string text;
    std::getline(std::ifstream(folder_ / (std::to_string(process_) + kEndlessEnding)), text);
    return text;
  }

 private:
  static std::string folder() {
    std::string name = testing::TempDir() + "wait-XXXXXX";
    return mkdtemp(name.data());
  }
  const std::filesystem::path folder_ = folder();
  pid_t process_ = 0;
};

TEST_F(WaitLimitTest, KillsAProcessThatWaitsForLonger) {
  EXPECT_EQ(signal_of([](WaitLimit& limit) {
              limit.begins();
              std::this_thread::sleep_for(20s);
            }),
            SIGKILL);
  EXPECT_EQ(kernel(), "last");
}

TEST_F(WaitLimitTest, CountsTheOutermostWaitOfEachThread) {
  EXPECT_EQ(signal_of([](WaitLimit& limit) {
              limit.begins();
              for (int i = 0; i < 200; ++i) {
                limit.begins();
                std::this_thread::sleep_for(100ms);
                limit.ends();
              }
            }),
            SIGKILL);
}

TEST_F(WaitLimitTest, AllowsManyShortWaits) {
  EXPECT_EQ(signal_of([](WaitLimit& limit) {
              for (int i = 0; i < 25; ++i) {
                limit.begins();
                std::this_thread::sleep_for(100ms);
                limit.ends();
              }
            }),
            0);
  EXPECT_EQ(kernel(), "");
}

}  // namespace
}  // namespace warpgauge::attach::wait_limit_test
