// The problem that ends a launch.
#pragma once

#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>

namespace warpgauge::emulator::machine {

/// Keeps the problem of the lowest block, as several workers may meet one: they note it.
class LowestProblem {
 public:
  void note(std::uint64_t block, std::exception_ptr what) {
    const std::lock_guard lock(mutex_);
    if (what_ != nullptr && block_ <= block) return;
    what_ = std::move(what);
    block_ = block;
  }

  // When no worker runs any more.
  bool is_there() const { return what_ != nullptr; }
  void rethrow() const {
    if (is_there()) std::rethrow_exception(what_);
  }

 private:
  std::mutex mutex_;  ///< protects the rest
  std::exception_ptr what_ = nullptr;
  std::uint64_t block_ = 0;
};

}  // namespace warpgauge::emulator::machine
