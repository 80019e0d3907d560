// Tests that change memory, made in a copy of the process.
#include "harness/emulator/runtime/copy_of_process.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace warpgauge::emulator::runtime {

bool holds_in_copy(std::chrono::milliseconds limit, const std::function<bool()>& test) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    const char holds = test() ? 1 : 0;
    _exit(write(ends[1], &holds, 1) == 1 ? 0 : 1);
  }
  close(ends[1]);
  char holds = 0;
  pollfd answer{.fd = ends[0], .events = POLLIN, .revents = 0};
  if (child > 0 && poll(&answer, 1, static_cast<int>(limit.count())) == 1) {
    if (read(ends[0], &holds, 1) != 1) holds = 0;
  }
  close(ends[0]);
  if (child > 0) {
    kill(child, SIGKILL);
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  return holds != 0;
}

}  // namespace warpgauge::emulator::runtime
