// Threads that wait for work from launch to launch.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace warpgauge::emulator::machine {

class ThreadPool {
 public:
  ThreadPool() = default;
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Calls work(0) in the calling thread and work(1) .. work(count - 1) in others, and returns when
  /// all have ended. `work` must not throw. One call at a time.
  void run(int count, const std::function<void(int)>& work);
  /// From work(0) of a call with a count of 1: it has this count after all.
  void recruit(int count);

 private:
  void serve(int number);

  std::mutex mutex_;
  std::condition_variable begin_, end_;
  const std::function<void(int)>* work_ = nullptr;
  int count_ = 0;       ///< the present call's
  int unfinished_ = 0;  ///< threads that are still at it
  unsigned call_ = 0;   ///< number of the present call
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace warpgauge::emulator::machine
