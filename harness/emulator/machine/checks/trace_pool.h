// Memory for traces, in large pages. What is no longer needed is used again: fresh pages of the
// system would cost more than all the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpgauge::emulator::machine::checks {

/// Blocks of zeros, all of one size.
class TracePool {
 public:
  /// `block_bytes` divides kSlabBytes.
  explicit TracePool(std::uint64_t block_bytes) : block_bytes_(block_bytes) {}
  ~TracePool();
  TracePool(const TracePool&) = delete;
  TracePool& operator=(const TracePool&) = delete;

  void* take();  ///< throws std::bad_alloc
  void give_back(void* block) { free_.push_back(block); }

 private:
  static constexpr std::uint64_t kSlabBytes = std::uint64_t{2} << 20;  ///< a large page

  void add_slab();

  const std::uint64_t block_bytes_;
  std::vector<void*> slabs_, free_;
};

}  // namespace warpgauge::emulator::machine::checks
