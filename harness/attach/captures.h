// The streams that are being captured.
#pragma once

#include <cuda.h>

#include <mutex>
#include <set>

namespace warpgauge::attach {

/// The streams that captures have begun on. During a capture no counts may be taken, in any
/// context: events can extend it to other streams, also of other devices, and asking whether a
/// context is idle would end it.
class Captures {
 public:
  void begin(CUstream stream) {
    const std::scoped_lock lock(mutex_);
    streams_.insert(stream);
  }
  void end(CUstream stream) {
    const std::scoped_lock lock(mutex_);
    streams_.erase(stream);
  }
  bool any() const {
    const std::scoped_lock lock(mutex_);
    return !streams_.empty();
  }

 private:
  mutable std::mutex mutex_;  ///< never held while CUDA or CUPTI is called
  std::set<CUstream> streams_;
};

}  // namespace warpgauge::attach
