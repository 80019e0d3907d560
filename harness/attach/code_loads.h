// The loads of code: how many, in which context, and by which thread.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

namespace warpgauge::attach {

/// A number of this thread that no other thread of the process has had: std::thread::id comes
/// again.
inline std::uint64_t thread_number() {
  static std::atomic<std::uint64_t> threads = 0;
  thread_local const std::uint64_t number = ++threads;
  return number;
}

/// How often code was loaded into a context, by thread. CUPTI (13.0) does not count code that was
/// loaded while it counted, by another thread than the one that had switched counting on.
class CodeLoads {
 public:
  /// Counts a load by this thread.
  void add(CUcontext context) {
    const std::scoped_lock lock(mutex_);
    ++by_thread_[context][thread_number()];
  }
  /// The loads in a context up to now, by all threads but `thread`.
  std::uint64_t by_others(CUcontext context, std::uint64_t thread) const {
    const std::scoped_lock lock(mutex_);
    const auto found = by_thread_.find(context);
    if (found == by_thread_.end()) return 0;
    std::uint64_t sum = 0;
    for (const auto& [loader, count] : found->second) {
      if (loader != thread) sum += count;
    }
    return sum;
  }
  /// Forgets a context that is gone.
  void forget(CUcontext context) {
    const std::scoped_lock lock(mutex_);
    by_thread_.erase(context);
  }

 private:
  mutable std::mutex mutex_;  ///< never held while CUDA or CUPTI is called
  std::map<CUcontext, std::map<std::uint64_t, std::uint64_t>> by_thread_;
};

}  // namespace warpgauge::attach
