// A mutex that no signal handler waits for.
#pragma once

#include <csignal>
#include <mutex>

namespace warpgauge::emulator {

/// A thread that holds it gets no signal that another process has sent: a handler would interrupt
/// it, and wait for a thread that writes the counts and wants this mutex. Hold it for a short time.
class UninterruptedMutex {
 public:
  void lock() {
    sigset_t held, before;
    sigfillset(&held);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) {
      sigdelset(&held, fault);
    }
    pthread_sigmask(SIG_BLOCK, &held, &before);
    mutex_.lock();
    before_ = before;
  }
  void unlock() {
    const sigset_t before = before_;
    mutex_.unlock();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

 private:
  std::mutex mutex_;
  sigset_t before_{};  ///< the signal mask of the thread that holds it
};

}  // namespace warpgauge::emulator
