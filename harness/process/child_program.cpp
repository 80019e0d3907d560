// Starts another program, hands signals on to it, and waits for its end.
#include "harness/process/child_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

extern char** environ;

namespace warpgauge::process {
namespace {

std::atomic<pid_t> running = 0;

void hand_on(int signal) {
  const bool of_terminal = signal == SIGINT || signal == SIGQUIT;
  if (!of_terminal && running > 0) kill(running, signal);
}

/// Handles signals during its lifetime; programs started meanwhile do not inherit this.
class Signals {
 public:
  Signals() {
    struct sigaction ours = {};
    ours.sa_handler = hand_on;
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &ours, &before_[i]);
  }
  ~Signals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  static constexpr std::array kSignals = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
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

}  // namespace

std::string Ending::str() const {
  if (signal == 0) return fmt::format("exited with {}", status);
  const char* name = sigabbrev_np(signal);
  return fmt::format("was ended by {} ({})",
                     name == nullptr ? "a signal" : fmt::format("SIG{}", name), strsignal(signal));
}

Ending run_to_its_end(std::vector<std::string> command,
                      const std::map<std::string, std::string>& changes,
                      const OutputFiles& outputs) {
  std::vector<std::string> variables = environment(changes);
  const Signals signals;
  // A signal that arrives before the program runs is blocked until it can be forwarded.
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
  if (failed == 0) running = child;
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (failed != 0) {
    throw std::runtime_error(
        fmt::format("{}: cannot be run: {}", command[0], std::strerror(failed)));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  running = 0;
  return WIFSIGNALED(status) ? Ending{.status = 0, .signal = WTERMSIG(status)}
                             : Ending{.status = WEXITSTATUS(status), .signal = 0};
}

}  // namespace warpgauge::process
