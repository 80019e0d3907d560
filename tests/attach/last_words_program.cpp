// Ends in the way that it is told, after having said that it is to speak first: it writes into the
// file that it is given.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "harness/attach/last_words.h"

namespace {

int file = -1;

bool speak(std::chrono::seconds) { return write(file, "spoken\n", 7) == 7; }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 9;
  const std::string way = argv[1];
  file = open(argv[2], O_CREAT | O_WRONLY | O_APPEND, 0644);
  if (way == "own") std::signal(SIGTERM, [](int) { std::_Exit(4); });
  warpgauge::speak_at_the_end(speak);
  if (way == "exit") std::exit(3);
  if (way == "abort") std::abort();
  if (way == "crash") *static_cast<volatile int*>(nullptr) = 1;
  if (way == "before") {  // a handler that calls the one before it, directly
    static const auto before = std::signal(SIGHUP, [](int) {});
    std::signal(SIGHUP, [](int signal) { before(signal); });
    raise(SIGHUP);
  }
  if (way == "pipe") raise(SIGPIPE);
  if (way == "own" || way == "terminate") raise(SIGTERM);
  if (way == "fork") {
    const pid_t child = fork();
    if (child == 0) std::exit(0);
    int status = 0;
    waitpid(child, &status, 0);
  }
  return 0;
}
