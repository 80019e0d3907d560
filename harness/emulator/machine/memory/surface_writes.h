// The bytes of an array that the running launch has written through surfaces. Until the launch
// ends, reading them through a texture or a surface gives anything (CUDA Programming Guide,
// "Read/Write Coherency"), for the caches in front of arrays are not kept up to date.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace warpgauge::emulator::machine::memory {

/// All but forget() may be called by several threads at once.
class SurfaceWrites {
 public:
  SurfaceWrites(const std::byte* data, std::size_t bytes)
      : data_(data), bytes_(bytes), written_(new std::atomic<bool>[bytes]()) {}

  void add(const std::byte* at, std::size_t bytes) {
    any_.store(true, std::memory_order_relaxed);
    for (std::size_t i = 0; i < bytes; ++i) {
      written_[index(at) + i].store(true, std::memory_order_relaxed);
    }
  }
  bool has(const std::byte* at, std::size_t bytes) const {
    if (!any_.load(std::memory_order_relaxed)) return false;
    for (std::size_t i = 0; i < bytes; ++i) {
      if (written_[index(at) + i].load(std::memory_order_relaxed)) return true;
    }
    return false;
  }
  /// To be called between launches.
  void forget() {
    if (!any_.exchange(false)) return;
    for (std::size_t i = 0; i < bytes_; ++i) written_[i].store(false, std::memory_order_relaxed);
  }

 private:
  std::size_t index(const std::byte* at) const { return static_cast<std::size_t>(at - data_); }

  const std::byte* data_;
  std::size_t bytes_;
  std::unique_ptr<std::atomic<bool>[]> written_;
  std::atomic<bool> any_ = false;
};

}  // namespace warpgauge::emulator::machine::memory
