// How many kernels a process has launched, in a file that outlives the process however it ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace warpgauge::attach {

/// A number in a file of eight bytes, which is mapped into memory: to count costs no call of the
/// system, and nothing has to be written at the end.
class LaunchCount {
 public:
  explicit LaunchCount(const std::filesystem::path& path);  ///< throws std::system_error
  ~LaunchCount();
  LaunchCount(const LaunchCount&) = delete;
  LaunchCount& operator=(const LaunchCount&) = delete;

  void add(std::uint64_t launches) { *count_ += launches; }
  void take_back(std::uint64_t launches) { *count_ -= launches; }

  /// The count that a process left in the file; nullopt if it cannot be read.
  static std::optional<std::uint64_t> of(const std::filesystem::path& path);

 private:
  std::atomic<std::uint64_t>* count_;
};

}  // namespace warpgauge::attach
