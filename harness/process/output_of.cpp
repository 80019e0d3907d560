// Runs another program, and reads its output from a pipe.
#include "harness/process/output_of.h"

#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>

#include "harness/process/found_program.h"

extern char** environ;

namespace warpgauge::process {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // more is no answer

/// Waits for output, or its end. False if none came in time.
bool await_output(int file, steady_clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd waiting{.fd = file, .events = POLLIN, .revents = 0};
    const int found = poll(&waiting, 1, static_cast<int>(left.count()));
    if (found >= 0 || errno != EINTR) return found > 0;
  }
}

}  // namespace

std::optional<std::string> output_of(std::vector<std::string> command, std::chrono::seconds limit) {
  const std::string program = found_program(command.front()).string();
  if (program.empty()) return std::nullopt;
  std::vector<char*> argv;
  for (std::string& argument : command) argv.push_back(argument.data());
  argv.push_back(nullptr);

  int ends[2];
  if (pipe(ends) != 0) return std::nullopt;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  pid_t child = 0;
  const int failed = posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);

  const steady_clock::time_point deadline = steady_clock::now() + limit;
  std::string output;
  char buffer[4096];
  for (ssize_t n = 1; failed == 0 && n > 0;) {
    if (output.size() > kMostBytes || !await_output(ends[0], deadline)) {
      kill(child, SIGKILL);
      break;
    }
    n = read(ends[0], buffer, sizeof buffer);
    if (n > 0) output.append(buffer, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  if (failed != 0 || waitpid(child, &status, 0) != child || status != 0) return std::nullopt;
  while (output.ends_with('\n')) output.pop_back();
  return output;
}

}  // namespace warpgauge::process
