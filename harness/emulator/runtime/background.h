// Runs work while the program goes on: a kernel that waits for memory to change, so that its launch
// has returned, and the work that streams got behind it.
#pragma once

#include <cuda_runtime_api.h>
#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace warpgauge::emulator::runtime {

/// A queue that a thread of its own works off, in order. The mutex is that of the state: who calls
/// holds it, and it is held while an item runs, which may release it for a time.
class Background {
 public:
  explicit Background(std::mutex& mutex) : mutex_(mutex) {}

  void add(cudaStream_t stream, std::function<void()> item);
  /// Whether anything is left to do.
  bool is_busy() const;
  /// Whether work of this stream is, or `waits_for` holds for another stream that has some.
  bool is_busy(cudaStream_t stream, const std::function<bool(cudaStream_t)>& waits_for) const;
  /// Waits until `done` holds, at the latest until nothing is left to do. Work in the background
  /// itself does not wait.
  void wait_until(const std::function<bool()>& done);
  void wait() {
    if (is_busy()) wait_until([] { return false; });
  }
  /// Whether a thread of the program does something else than wait for what runs, in a launch or
  /// here. May be asked without the mutex.
  bool program_goes_on() const;
  /// Calls `use` without the mutex.
  void unlocked(const std::function<void()>& use);

 private:
  struct Item {
    cudaStream_t stream;
    std::function<void()> run;
  };
  void work();

  std::mutex& mutex_;
  std::deque<Item> items_;  ///< the first one runs
  std::condition_variable_any item_done_;
  std::atomic<int> waiting_ = 0;        ///< threads in wait_until()
  std::atomic<bool> unlocked_ = false;  ///< in unlocked()
  pid_t process_ = 0;                   ///< whose thread works; a forked process has none
};

}  // namespace warpgauge::emulator::runtime
