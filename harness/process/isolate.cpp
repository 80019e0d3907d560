#include "harness/process/isolate.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "harness/files/error_text.h"

namespace warpgauge::process {
namespace {

using std::chrono::steady_clock;

// The messages of a child to its parent, a byte each.
enum Message : char { kStarted = 's', kDone = 'd', kBegun = 'b' };

/// A child process that works through the items from `first` on.
class Child {
 public:
  Child(const IsolatedWork& work, std::size_t first) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      throw std::system_error(errno, std::generic_category(), "pipe");
    std::fflush(nullptr);  // or both processes would print the buffered text
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (pid_ == 0) {
      close(ends[0]);
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // no orphan keeps the GPU busy
      if (getppid() != parent) _exit(1);
      dup2(STDERR_FILENO, STDOUT_FILENO);  // stdout is for the parent's results
      _exit(live(work, first, ends[1]));
    }
    close(ends[1]);
    pipe_ = ends[0];
  }

  ~Child() {
    close(pipe_);
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  enum class Event { message, end, timeout };
  /// Waits for the next message, the end of the child, or the deadline.
  Event wait(steady_clock::time_point deadline, char* message) {
    for (;;) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now());
      pollfd poll_pipe{pipe_, POLLIN, 0};
      const auto wait = std::clamp<std::int64_t>(left.count(), 0, INT_MAX);
      const int ready = poll(&poll_pipe, 1, static_cast<int>(wait));
      if (ready == 0 && wait < INT_MAX) return Event::timeout;
      if (ready == 0) continue;
      if (ready < 0 && errno == EINTR) continue;
      return read(pipe_, message, 1) == 1 ? Event::message : Event::end;
    }
  }

  /// Returns how the child ended; empty if it lived until the deadline, and was killed. (It may
  /// have closed the pipe and live on.)
  std::string reap(steady_clock::time_point deadline) {
    int status = 0;
    while (waitpid(pid_, &status, WNOHANG) == 0) {
      if (steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        continue;
      }
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
      pid_ = -1;
      return "";
    }
    pid_ = -1;
    if (WIFSIGNALED(status)) {
      const int signal = WTERMSIG(status);
      return fmt::format("killed by SIG{} ({})", sigabbrev_np(signal), sigdescr_np(signal));
    }
    return fmt::format("the process ended with status {}", WEXITSTATUS(status));
  }

 private:
  static int live(const IsolatedWork& work, std::size_t first, int out) {
    const auto say = [out](char message) { return write(out, &message, 1) == 1; };
    try {
      work.begin();
      if (!say(kBegun)) return 1;
      for (std::size_t item = first; item < work.count; ++item) {
        if (!say(kStarted)) return 1;
        const bool go_on = work.work(item);
        std::fflush(nullptr);
        if (!say(kDone)) return 1;
        if (!go_on) break;
      }
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", files::error_text(error).c_str());
      return 2;
    }
    return 0;
  }

  pid_t pid_ = -1;
  int pipe_ = -1;
};

}  // namespace

void run_isolated(const IsolatedWork& work) {
  // Setting up CUDA and its profiler can take longer than the limit of an item.
  constexpr std::chrono::seconds kTimeToBegin{120};
  std::size_t next = 0;
  int barren = 0;  // children in a row that finished no item
  while (next < work.count) {
    Child child(work, next);
    const std::size_t first = next;
    bool begun = false, working = false;
    for (;;) {
      const auto limit = begun ? work.time_limit : std::max(work.time_limit, kTimeToBegin);
      const auto deadline = steady_clock::now() + limit;
      char message = 0;
      const auto event = child.wait(deadline, &message);
      if (event == Child::Event::message) {
        begun = true;
        working = message == kStarted;
        if (message == kDone) work.done(next++);
        continue;
      }
      std::string reason = child.reap(deadline);
      if (reason.empty()) reason = fmt::format("time limit of {} s exceeded", limit.count());
      if (working) {
        work.died({next, reason});
        work.done(next++);
      }
      barren = next == first ? barren + 1 : 0;
      if (barren == 2) {
        throw std::runtime_error("the measuring process cannot start: " + reason);
      }
      break;
    }
  }
}

}  // namespace warpgauge::process
