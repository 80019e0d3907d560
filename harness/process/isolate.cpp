#include "harness/process/isolate.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
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
#include <optional>
#include <random>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "harness/files/error_text.h"

namespace warpgauge::process {
namespace {

using std::chrono::steady_clock;

/// What a child tells its parent, one packet each. Other packets are of the item's code, which can
/// write to any descriptor.
struct Message {
  enum Kind : std::uint64_t { kNone, kBegun, kStarted, kDone };
  std::uint64_t word;  ///< of this child, and hard to hit by chance
  Kind kind;
  std::uint64_t item;
};

/// A child process that works through the items from `first` on.
class Child {
 public:
  Child(const IsolatedWork& work, std::size_t first) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
      throw std::system_error(errno, std::generic_category(), "socketpair");
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
    socket_ = ends[0];
    its_socket_ = ends[1];
  }

  ~Child() {
    close(socket_);
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  enum class Event { message, not_a_message, end, timeout };
  /// Waits for the next message, the end of the child, or the deadline.
  Event wait(steady_clock::time_point deadline, Message* message) {
    for (;;) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now());
      pollfd poll_socket{socket_, POLLIN, 0};
      const auto wait = std::clamp<std::int64_t>(left.count(), 0, INT_MAX);
      const int ready = poll(&poll_socket, 1, static_cast<int>(wait));
      if (ready == 0 && wait < INT_MAX) return Event::timeout;
      if (ready == 0) continue;
      if (ready < 0 && errno == EINTR) continue;
      const ssize_t got = recv(socket_, message, sizeof *message, MSG_TRUNC);
      if (got <= 0) return Event::end;
      const bool whole = got == sizeof *message && message->word == word_;
      return whole ? Event::message : Event::not_a_message;
    }
  }

  /// Lets the child begin with the next item.
  void go_on() const { static_cast<void>(send(socket_, "", 1, MSG_NOSIGNAL)); }

  /// The number of the child's end.
  int its_socket() const { return its_socket_; }

  /// Returns how the child ended; empty if it lived until the deadline, and was killed. (It may
  /// have closed its end and live on.)
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
  int live(const IsolatedWork& work, std::size_t first, int out) const {
    const auto say = [&](Message::Kind kind, std::size_t item) {
      const Message message{word_, kind, item};
      return write(out, &message, sizeof message) == sizeof message;
    };
    try {
      work.begin();
      if (!say(Message::kBegun, first)) return 1;
      for (std::size_t item = first; item < work.count; ++item) {
        if (!say(Message::kStarted, item)) return 1;
        const bool go_on = work.work(item);
        std::fflush(nullptr);
        // Not ahead of the parent, which ends this process if the item has written here.
        char answer;
        if (!say(Message::kDone, item) || read(out, &answer, 1) != 1) return 1;
        if (!go_on) break;
      }
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", files::error_text(error).c_str());
      return 2;
    }
    return 0;
  }

  const std::uint64_t word_ = std::random_device()() | std::uint64_t{1} << 63;
  pid_t pid_ = -1;
  int socket_ = -1;
  int its_socket_ = -1;
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
      Message message{};
      const auto event = child.wait(deadline, &message);
      const auto awaited = working ? Message::kDone : begun ? Message::kStarted : Message::kBegun;
      if (event == Child::Event::message && message.kind == awaited && message.item == next) {
        begun = true;
        working = awaited == Message::kStarted;
        if (awaited == Message::kDone) {
          work.done(next++);
          child.go_on();
        }
        continue;
      }
      std::string reason;
      std::optional<std::size_t> culprit;
      if (working) culprit = next;
      if (event == Child::Event::message) {
        reason = "its code called fork(), and the child process went on as well";
        culprit = message.item;
      } else if (event == Child::Event::not_a_message) {
        reason = fmt::format(
            "its code wrote to descriptor {}, which is not its own but carries the messages of the "
            "measuring process: write only to descriptors that the code has opened",
            child.its_socket());
        if (!working && next > first) culprit = next - 1;  // what it left behind is still at work
      } else {
        reason = child.reap(deadline);
        if (reason.empty()) reason = fmt::format("time limit of {} s exceeded", limit.count());
      }
      if (culprit) work.died({*culprit, reason});
      if (culprit == next) work.done(next++);
      barren = next == first ? barren + 1 : 0;
      if (barren == 2) {
        throw std::runtime_error("the measuring process cannot start: " + reason);
      }
      break;
    }
  }
}

}  // namespace warpgauge::process
