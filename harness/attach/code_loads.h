// Which code was loaded in which context, and by whom.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <thread>

namespace warpgauge {

/// How often code was loaded into a context, by thread. CUPTI (13.0) does not count code that was
/// loaded while it counted, by another thread than the one that had switched counting on.
class CodeLoads {
 public:
  /// By this thread.
  void add(CUcontext context) {
    const std::scoped_lock lock(mutex_);
    ++by_thread_[context][std::this_thread::get_id()];
  }
  /// Up to now, by all but one thread.
  std::uint64_t by_others(CUcontext context, std::thread::id thread) const {
    const std::scoped_lock lock(mutex_);
    const auto found = by_thread_.find(context);
    if (found == by_thread_.end()) return 0;
    std::uint64_t sum = 0;
    for (const auto& [one, count] : found->second) {
      if (one != thread) sum += count;
    }
    return sum;
  }

 private:
  mutable std::mutex mutex_;  ///< held for no call of anybody else's
  std::map<CUcontext, std::map<std::thread::id, std::uint64_t>> by_thread_;
};

}  // namespace warpgauge
