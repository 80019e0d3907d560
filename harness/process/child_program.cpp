// Starts another program, hands signals on to it, and waits for its end.
#include "harness/process/child_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <system_error>
#include <utility>

extern char** environ;

namespace warpgauge::process {
namespace {

std::atomic<pid_t> running = 0;
std::atomic<int> asked_to_end = 0;  // the signal that came while no program runs

void send(pid_t program, int signal) {
  const bool of_terminal = signal == SIGINT || signal == SIGQUIT;  // which sends it to both
  if (!of_terminal) kill(program, signal);
}

/// Runs in any thread, also in one that does not start the program.
void hand_on(int signal) {
  asked_to_end = signal;
  if (const pid_t program = running; program > 0) {
    asked_to_end = 0;
    send(program, signal);
  }
}

void ignore(int /*signal*/) {}

/// Handles signals during its lifetime; programs started meanwhile do not inherit this.
class Signals {
 public:
  Signals() {
    asked_to_end = 0;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      struct sigaction ours = {};
      // If SIGCHLD were ignored, as a parent may have it, no one would get to know how a child
      // ends.
      ours.sa_handler = kSignals[i] == SIGCHLD ? ignore : hand_on;
      sigaction(kSignals[i], &ours, &before_[i]);
    }
  }
  ~Signals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  static constexpr std::array kSignals = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD};
  std::array<struct sigaction, kSignals.size()> before_{};
};

/// The environment of the program: this one's, with `changes`.
std::vector<std::string> environment(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text(*entry);
    if (!changes.contains(text.substr(0, text.find('=')))) result.push_back(text);
  }
  for (const auto& [name, value] : changes) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// Starts a program, which gets the signals that arrive from now on. Throws std::runtime_error.
pid_t start(std::vector<std::string> command, const std::map<std::string, std::string>& changes,
            const OutputFiles& outputs) {
  std::vector<std::string> variables = environment(changes);
  // A signal that arrives before the program runs is blocked until it can be forwarded; one that
  // another thread took is sent below.
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &before);
  sigset_t by_default;
  sigemptyset(&by_default);
  for (const int signal : kFailedWrites) sigaddset(&by_default, signal);
  posix_spawnattr_setsigdefault(&attributes, &by_default);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  const auto open = [&](int stream, const std::filesystem::path& file) {
    if (file.empty()) return;
    posix_spawn_file_actions_addopen(&files, stream, file.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0666);
  };
  open(STDOUT_FILENO, outputs.output);
  if (!outputs.messages.empty() && outputs.messages == outputs.output) {
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  } else {
    open(STDERR_FILENO, outputs.messages);
  }
  pid_t child = 0;
  const int failed = posix_spawnp(&child, command[0].c_str(), &files, &attributes,
                                  pointers(command).data(), pointers(variables).data());
  if (failed == 0) {
    running = child;
    if (const int signal = asked_to_end.exchange(0); signal != 0) send(child, signal);
  }
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (failed != 0) {
    throw std::runtime_error(
        fmt::format("{}: cannot be run: {}", command[0], std::strerror(failed)));
  }
  return child;
}

Ending ending_of(int status) {
  return WIFSIGNALED(status) ? Ending{.status = 0, .signal = WTERMSIG(status)}
                             : Ending{.status = WEXITSTATUS(status), .signal = 0};
}

using std::chrono::steady_clock;

/// A program and all processes that it starts, until they have ended.
class Supervised {
 public:
  Supervised(const OutputFiles& outputs, const Supervision& supervision)
      : outputs_(outputs), supervision_(supervision) {
    for (const Descendant& other : descendants()) others_.push_back(other.id);
    adopt_orphans();
    sigemptyset(&ends_);
    sigaddset(&ends_, SIGCHLD);
    sigprocmask(SIG_SETMASK, nullptr, &mask_);
  }
  ~Supervised() { sigprocmask(SIG_SETMASK, &mask_, nullptr); }
  Supervised(const Supervised&) = delete;
  Supervised& operator=(const Supervised&) = delete;

  Ending run(const std::function<pid_t()>& start_program) {
    const steady_clock::time_point begin = steady_clock::now();
    program_ = start_program();
    sigprocmask(SIG_BLOCK, &ends_, nullptr);  // next() takes it
    for (std::vector<Descendant> alive = next(); is_running_; alive = next()) {
      std::string limit = limit_beyond(steady_clock::now() - begin);
      if (limit.empty()) continue;
      end(SIGKILL, kGrace);
      return {.status = 0, .signal = SIGKILL, .limit = std::move(limit)};
    }
    await_others();
    return ending_;
  }

 private:
  static constexpr std::chrono::seconds kGrace{5};  ///< for the end after a signal
  static constexpr std::chrono::milliseconds kShortestPause{10}, kLongestPause{100};

  /// The CPU time of this thread: on a machine with much to do a look takes longer, and costs no
  /// more.
  static std::chrono::nanoseconds own_time() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }

  /// Pauses until a child ends, for a short time at most. Returns the processes that live.
  std::vector<Descendant> next() {
    const std::chrono::nanoseconds pause = std::clamp<std::chrono::nanoseconds>(
        kShareOfLooks * cost_of_look_, kShortestPause, kLongestPause);
    const timespec time{.tv_sec = 0, .tv_nsec = pause.count()};
    sigtimedwait(&ends_, nullptr, &time);
    const std::chrono::nanoseconds begin = own_time();
    std::vector<Descendant> alive = descendants(others_);
    supervision_.look(alive);
    cost_of_look_ = own_time() - begin;
    reap();
    return alive;
  }

  void reap() {
    int status = 0;
    for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (ended != program_) continue;
      is_running_ = false;
      running = 0;
      ending_ = ending_of(status);
    }
  }

  std::string limit_beyond(steady_clock::duration time) const {
    if (supervision_.time_limit.count() > 0 && time >= supervision_.time_limit) {
      return fmt::format("took longer than {} s, and was ended", supervision_.time_limit.count());
    }
    for (const std::filesystem::path& file :
         {outputs_.output, outputs_.messages, supervision_.made}) {
      std::error_code unknown;
      if (supervision_.most_output_bytes == 0 || file.empty()) continue;
      const std::uintmax_t bytes = std::filesystem::file_size(file, unknown);
      if (unknown || bytes <= supervision_.most_output_bytes) continue;
      return fmt::format("wrote more than {} bytes, and was ended", supervision_.most_output_bytes);
    }
    return "";
  }

  /// Waits for the processes that the program has left behind.
  void await_others() {
    const auto deadline = steady_clock::now() + supervision_.patience;
    std::vector<Descendant> alive = descendants(others_);
    while (!alive.empty() && steady_clock::now() < deadline && asked_to_end == 0) alive = next();
    for (const Descendant& process : alive) ending_.left.push_back(process.str());
    if (!alive.empty() && !end(SIGTERM, kGrace)) end(SIGKILL, kGrace);
  }

  /// Sends a signal to all. False if some live on.
  bool end(int signal, std::chrono::seconds grace) {
    const auto deadline = steady_clock::now() + grace;
    std::vector<Descendant> told;
    for (std::vector<Descendant> alive = descendants(others_); !alive.empty(); alive = next()) {
      if (steady_clock::now() >= deadline) return false;
      for (const Descendant& process : alive) {
        if (std::ranges::find(told, process) != told.end()) continue;
        told.push_back(process);
        kill(process.id, signal);
      }
    }
    reap();
    return true;
  }

  /// A look takes so many times less than the pause before it.
  static constexpr int kShareOfLooks = 20;

  const OutputFiles& outputs_;
  const Supervision& supervision_;
  std::vector<pid_t> others_;  ///< started before
  sigset_t ends_{}, mask_{};   ///< the signal of an end; the mask as it was
  pid_t program_ = 0;
  bool is_running_ = true;
  std::chrono::nanoseconds cost_of_look_{};
  Ending ending_;
};

}  // namespace

std::string Ending::str() const {
  if (!limit.empty()) return limit;
  if (signal == 0) return fmt::format("exited with {}", status);
  const char* name = sigabbrev_np(signal);
  return fmt::format("was ended by {} ({})",
                     name == nullptr ? "a signal" : fmt::format("SIG{}", name), strsignal(signal));
}

Ending run_to_its_end(std::vector<std::string> command,
                      const std::map<std::string, std::string>& changes,
                      const OutputFiles& outputs) {
  const Signals signals;
  const pid_t child = start(std::move(command), changes, outputs);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  running = 0;
  return ending_of(status);
}

Ending run_supervised(std::vector<std::string> command,
                      const std::map<std::string, std::string>& changes, const OutputFiles& outputs,
                      const Supervision& supervision) {
  const Signals signals;
  Supervised supervised(outputs, supervision);
  return supervised.run([&] { return start(std::move(command), changes, outputs); });
}

}  // namespace warpgauge::process
