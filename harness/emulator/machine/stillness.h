// Whether the workers of a launch wait in vain.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace warpgauge::emulator::machine {

/// Finds out that workers, all of which wait for memory to change, wait in vain.
class Stillness {
 public:
  void begin() {
    const std::lock_guard lock(mutex_);
    ++workers_;
  }
  void end(const void* worker) {
    const std::lock_guard lock(mutex_);
    --workers_;
    seen_.erase(worker);
    forget();
  }
  /// A worker that waits looks at what it has begun. True if nothing has changed for long in that
  /// of any worker.
  bool look(const void* worker, std::uint64_t fingerprint) {
    const std::lock_guard lock(mutex_);
    Seen& seen = seen_[worker];
    if (seen.fingerprint != fingerprint) forget();
    seen.fingerprint = fingerprint;
    ++seen.looks;
    const auto is_still = [](const auto& entry) { return entry.second.looks > kMostLooks; };
    return seen_.size() == workers_ && std::ranges::all_of(seen_, is_still);
  }

 private:
  static constexpr int kMostLooks = 10;  ///< at which nothing may have changed
  struct Seen {
    std::uint64_t fingerprint = 0;
    int looks = 0;  ///< since something changed anywhere
  };
  void forget() {
    for (auto& [worker, seen] : seen_) seen.looks = 0;
  }

  std::mutex mutex_;
  std::map<const void*, Seen> seen_;
  std::size_t workers_ = 0;
};

}  // namespace warpgauge::emulator::machine
