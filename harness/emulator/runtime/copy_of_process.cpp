// Tests that change memory, made in a copy of the process.
#include "harness/emulator/runtime/copy_of_process.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>

namespace warpgauge::emulator::runtime {

namespace {

/// Waits for it, also where signals come. An end counts as input.
bool has_input(int file, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  pollfd input{.fd = file, .events = POLLIN, .revents = 0};
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    const int ready = poll(&input, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

}  // namespace

bool holds_in_copy(std::chrono::milliseconds limit, const std::function<bool()>& test) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    char holds = 0;
    try {
      holds = test() ? 1 : 0;
    } catch (...) {  // the program itself must not go on here
    }
    _exit(write(ends[1], &holds, 1) == 1 ? 0 : 1);
  }
  close(ends[1]);
  char holds = 0;
  const bool answers = child > 0 && has_input(ends[0], limit);
  if (answers && read(ends[0], &holds, 1) != 1) holds = 0;
  close(ends[0]);
  if (child > 0 && !answers) kill(child, SIGKILL);
  if (child > 0) {
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  return holds != 0;
}

}  // namespace warpgauge::emulator::runtime
