// Flushes at exit, and in a thread that the handlers of fatal signals ask.
#include "harness/process/flush_at_exit.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

#include "metrics/base/own_thread.h"

namespace warpgauge::process {
namespace {

/// All signals that end a process, except SIGKILL, which cannot be caught.
constexpr std::array kFatal = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGTRAP,   SIGABRT, SIGBUS,
                               SIGFPE,  SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE,   SIGALRM, SIGTERM,
                               SIGXCPU, SIGXFSZ, SIGSYS,  SIGPROF, SIGVTALRM, SIGPOLL};
constexpr std::chrono::seconds kPatience(2);
constexpr int kLongestMs = 5000;

bool (*flush_process)(std::chrono::seconds patience) = nullptr;
pid_t process = 0;
int asked = -1, answered = -1;  // eventfds: a write wakes the reader
std::atomic<bool> has_handlers = false;

void at_exit() {
  if (in_flushing_process()) flush_process(kPatience);
}

/// Waits for a signal handler to ask: a handler itself may not call what counts.
void serve() {
  metrics::begin_own_thread();
  std::uint64_t ignored = 0;
  if (read(asked, &ignored, sizeof ignored) < 0) return;
  flush_process(kPatience);
  const std::uint64_t unit = 1;
  static_cast<void>(!write(answered, &unit, sizeof unit));
}

/// Waits until the other thread has flushed, then lets the signal take its default action. A
/// handler that the program sets later may call this one as its predecessor.
void on_fatal_signal(int signal) {
  if (in_flushing_process()) {
    const std::uint64_t unit = 1;
    pollfd wait = {.fd = answered, .events = POLLIN, .revents = 0};
    if (write(asked, &unit, sizeof unit) == sizeof unit) poll(&wait, 1, kLongestMs);
  }
  has_handlers = false;
  std::signal(signal, SIG_DFL);
  raise(signal);
}

/// Starts the thread that signal handlers ask. False if it cannot be.
bool start_serving() {
  asked = eventfd(0, EFD_CLOEXEC);
  answered = eventfd(0, EFD_CLOEXEC);
  if (asked < 0 || answered < 0) return false;
  // The program's signals must not reach the thread.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool serves = true;
  try {
    std::thread(serve).detach();
  } catch (const std::system_error&) {
    serves = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return serves;
}

/// True while the program has threads, beside its first one.
bool has_threads() {
  std::error_code gone;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", gone)) {
    if (thread.path().filename() == std::to_string(getpid())) continue;
    std::string name;
    std::getline(std::ifstream(thread.path() / "comm"), name);
    if (!name.empty() && name != metrics::kOwnThread) return true;
  }
  return false;
}

/// The first thread has called pthread_exit(): the process is to end with the last one of the
/// program, but the C library waits for ours as well.
void on_end_of_first_thread(void* /*process*/) {
  constexpr std::chrono::milliseconds kPause(10);
  try {
    std::thread([=] {
      metrics::begin_own_thread();
      // A thread that starts another one and ends may be missed with it, but not twice.
      while (has_threads() || has_threads()) std::this_thread::sleep_for(kPause);
      std::exit(EXIT_SUCCESS);
    }).detach();
  } catch (const std::system_error&) {  // it then goes on for ever, which a time limit ends
  }
}

/// A destructor of the thread's data is not called where it returns from main(), or calls exit().
void watch_first_thread() {
  pthread_key_t key = 0;
  if (pthread_key_create(&key, on_end_of_first_thread) == 0) pthread_setspecific(key, &process);
}

}  // namespace

void (*flushing_handler(int signal))(int) {
  const bool is_fatal = std::ranges::find(kFatal, signal) != kFatal.end();
  return has_handlers && is_fatal ? on_fatal_signal : nullptr;
}

bool in_flushing_process() { return getpid() == process; }

void flush_at_exit(bool (*flush)(std::chrono::seconds patience)) {
  process = getpid();
  flush_process = flush;
  std::atexit(at_exit);
  std::at_quick_exit(at_exit);
  watch_first_thread();
  if (!start_serving()) return;  // only exit() flushes then
  for (const int signal : kFatal) {
    struct sigaction current = {}, ours = {};
    if (sigaction(signal, nullptr, &current) != 0 || current.sa_handler != SIG_DFL) continue;
    ours.sa_handler = on_fatal_signal;
    ours.sa_flags = SA_NODEFER;
    sigaction(signal, &ours, nullptr);
  }
  has_handlers = true;
}

void flush_forked_child() {
  process = getpid();
  close(asked);  // the parent's
  close(answered);
  start_serving();
}

}  // namespace warpgauge::process
