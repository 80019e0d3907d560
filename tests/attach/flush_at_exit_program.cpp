// Ends in the way that the first argument names, and flushes into the file that the second names.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include "harness/process/flush_at_exit.h"

namespace {

int file = -1;

bool flush(std::chrono::seconds) { return write(file, "flushed\n", 8) == 8; }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 9;
  const std::string way = argv[1];
  file = open(argv[2], O_CREAT | O_WRONLY | O_APPEND, 0644);
  if (way == "own_handler") std::signal(SIGTERM, [](int) { std::_Exit(4); });
  warpgauge::process::flush_at_exit(flush);
  if (way == "exit") std::exit(3);
  if (way == "abort") std::abort();
  if (way == "crash") *static_cast<volatile int*>(nullptr) = 1;
  if (way == "chained_handler") {  // calls the handler that it replaces
    static const auto before = std::signal(SIGHUP, [](int) {});
    std::signal(SIGHUP, [](int signal) { before(signal); });
    raise(SIGHUP);
  }
  if (way == "pipe") raise(SIGPIPE);
  if (way == "own_handler" || way == "terminate") raise(SIGTERM);
  if (way == "last_thread") {  // which is not the first one
    std::thread([] { std::this_thread::sleep_for(std::chrono::milliseconds(200)); }).detach();
    pthread_exit(nullptr);
  }
  if (way.starts_with("fork")) {
    const pid_t child = fork();
    if (child == 0 && way != "fork") warpgauge::process::flush_forked_child();
    if (child == 0 && way == "fork_terminate") raise(SIGTERM);
    if (child == 0) std::exit(0);
    int status = 0;
    waitpid(child, &status, 0);
  }
  return 0;
}
