// Tells a process from the copies that code of the user makes of it, by a pipe and a flag that they
// share.
#include "harness/process/fork_guard.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <exception>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "metrics/base/shared_with_forks.h"

namespace warpgauge::process {
namespace {

/// A call under way, as this process and its copies see it.
class Call {
 public:
  Call() {
    if (pipe2(ends_, O_CLOEXEC | O_NONBLOCK) != 0) {
      throw std::system_error(errno, std::generic_category(), "pipe");
    }
    outer_ = std::exchange(current, this);
  }
  ~Call() {
    current = outer_;
    close(ends_[0]);
    if (ends_[1] >= 0) close(ends_[1]);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void end_if_copy() {
    if (getpid() == process_) return;
    *copy_came_back_ = true;
    for (;;) syscall(SYS_exit_group, 0);
  }

  /// Waits until there is no copy of the process. False if there still is.
  bool copies_ended() {
    constexpr std::chrono::milliseconds kPatience(1000);
    close(std::exchange(ends_[1], -1));
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    for (;;) {
      // The code may have written to the pipe, or closed it.
      char ignored[512];
      const ssize_t got = read(ends_[0], ignored, sizeof ignored);
      if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return true;
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      if (left.count() <= 0) return false;
      pollfd end{ends_[0], POLLIN, 0};
      poll(&end, 1, static_cast<int>(left.count()));
    }
  }

  bool copy_came_back() const { return *copy_came_back_; }

  static inline Call* current = nullptr;

 private:
  pid_t process_ = getpid();
  Call* outer_ = nullptr;
  const std::shared_ptr<std::atomic<bool>> copy_came_back_ =
      metrics::shared_with_forks<std::atomic<bool>>();
  int ends_[2] = {-1, -1};  ///< the ends of a pipe that copies hold open
};

}  // namespace

void with_fork_guard(std::string_view code, const std::function<void()>& call) {
  end_if_copy();
  Call guarded;
  std::exception_ptr failure;
  try {
    call();
  } catch (...) {
    failure = std::current_exception();
  }
  guarded.end_if_copy();
  const bool ended = guarded.copies_ended();
  if (guarded.copy_came_back()) {
    throw std::runtime_error(
        fmt::format("{} called fork(), and the child process came back from it as well: end the "
                    "child with _exit() where its work is done",
                    code));
  }
  if (!ended) {
    throw std::runtime_error(fmt::format(
        "{} called fork(), and the child process still runs: wait for its end with waitpid()",
        code));
  }
  if (failure) std::rethrow_exception(failure);
}

void end_if_copy() {
  if (Call::current != nullptr) Call::current->end_if_copy();
}

}  // namespace warpgauge::process
