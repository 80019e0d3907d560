#include "harness/attach/last_words.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <thread>

namespace warpgauge {
namespace {

constexpr std::array kFatal = {SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGABRT,
                               SIGBUS, SIGFPE, SIGSEGV, SIGTERM};
constexpr std::chrono::seconds kPatience(2);
constexpr int kLongestMs = 5000;

bool (*last_words)(std::chrono::seconds patience) = nullptr;
std::atomic<bool> forked = false;
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

/// Waits until the other thread has spoken, then lets the signal do what it would have done.
void on_fatal_signal(int signal) {
  if (in_attached_process()) {
    const std::uint64_t one = 1;
    pollfd wait = {.fd = answered, .events = POLLIN, .revents = 0};
    if (write(asked, &one, sizeof one) == sizeof one) poll(&wait, 1, kLongestMs);
  }
  raise(signal);  // SA_RESETHAND: its default
}

}  // namespace

bool in_attached_process() { return !forked; }

void speak_at_the_end(bool (*speak)(std::chrono::seconds patience)) {
  last_words = speak;
  pthread_atfork(nullptr, nullptr, [] { forked = true; });
  std::atexit(at_exit);
  asked = eventfd(0, EFD_CLOEXEC);
  answered = eventfd(0, EFD_CLOEXEC);
  if (asked < 0 || answered < 0) return;
  // The program's signals are not for the thread.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(serve).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  for (const int signal : kFatal) {
    struct sigaction current = {}, ours = {};
    if (sigaction(signal, nullptr, &current) != 0 || current.sa_handler != SIG_DFL) continue;
    ours.sa_handler = on_fatal_signal;
    ours.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    sigaction(signal, &ours, nullptr);
  }
}

}  // namespace warpgauge
