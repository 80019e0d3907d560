// A thread of the CPU that works while a kernel runs.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <utility>

namespace system_scope {

/// Runs one function at a time on a thread of its own. The function returns when its work is done,
/// or soon after its argument has become true.
class Partner {
 public:
  using Work = std::function<void(const std::atomic<bool>& stop)>;

  ~Partner() { stop(); }
  void start(Work work) {
    stop();
    stopped_ = false;
    thread_ = std::thread([this, work = std::move(work)] { work(stopped_); });
  }
  /// Waits for the end of the work. Call it when nothing more will come from the GPU.
  void stop() {
    stopped_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::atomic<bool> stopped_ = false;
  std::thread thread_;
};

}  // namespace system_scope
