// The number of this process, without a system call.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <atomic>

namespace warpgauge::emulator {

inline pid_t process_id() {
  static std::atomic<pid_t> number = getpid();
  [[maybe_unused]] static const int kept =
      pthread_atfork(nullptr, nullptr, [] { number.store(getpid(), std::memory_order_relaxed); });
  return number.load(std::memory_order_relaxed);
}

}  // namespace warpgauge::emulator
