#include "harness/attach/last_words.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <system_error>
#include <thread>

namespace warpgauge {
namespace {

/// All that end a process, but for SIGKILL, which nobody can catch.
constexpr std::array kFatal = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGTRAP,   SIGABRT, SIGBUS,
                               SIGFPE,  SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE,   SIGALRM, SIGTERM,
                               SIGXCPU, SIGXFSZ, SIGSYS,  SIGPROF, SIGVTALRM, SIGPOLL};
constexpr std::chrono::seconds kPatience(2);
constexpr int kLongestMs = 5000;

bool (*last_words)(std::chrono::seconds patience) = nullptr;
pid_t process = 0;
int asked = -1, answered = -1;  // counters that wake up who reads them

void at_exit() {
  if (in_attached_process()) last_words(kPatience);
}

/// Waits for a signal handler to ask: nothing that counts may be called in a handler itself.
void serve() {
  std::uint64_t ignored = 0;
  if (read(asked, &ignored, sizeof ignored) < 0) return;
  last_words(kPatience);
  const std::uint64_t one = 1;
  static_cast<void>(!write(answered, &one, sizeof one));
}

/// Waits until the other thread has spoken, then lets the signal do what it would have done. A
/// handler of the program's that is set later may call this one, as the one before it.
void on_fatal_signal(int signal) {
  if (in_attached_process()) {
    const std::uint64_t one = 1;
    pollfd wait = {.fd = answered, .events = POLLIN, .revents = 0};
    if (write(asked, &one, sizeof one) == sizeof one) poll(&wait, 1, kLongestMs);
  }
  std::signal(signal, SIG_DFL);
  raise(signal);
}

}  // namespace

bool in_attached_process() { return getpid() == process; }

void speak_at_the_end(bool (*speak)(std::chrono::seconds patience)) {
  process = getpid();
  last_words = speak;
  std::atexit(at_exit);
  asked = eventfd(0, EFD_CLOEXEC);
  answered = eventfd(0, EFD_CLOEXEC);
  if (asked < 0 || answered < 0) return;
  // The program's signals are not for the thread.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool serves = true;
  try {
    std::thread(serve).detach();
  } catch (const std::system_error&) {  // no thread is to be had: only exit() is a good end
    serves = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!serves) return;
  for (const int signal : kFatal) {
    struct sigaction current = {}, ours = {};
    if (sigaction(signal, nullptr, &current) != 0 || current.sa_handler != SIG_DFL) continue;
    ours.sa_handler = on_fatal_signal;
    ours.sa_flags = SA_NODEFER;
    sigaction(signal, &ours, nullptr);
  }
}

}  // namespace warpgauge
