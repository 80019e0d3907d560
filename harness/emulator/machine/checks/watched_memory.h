// Device memory as the checks see it.
#pragma once

#include <cstdint>
#include <string>

namespace warpgauge::emulator::machine::checks {

class GlobalTraces;

class WatchedMemory {
 public:
  /// Addresses that something other than a kernel may have written.
  struct Range {
    std::uint64_t begin = 0, end = 0;
  };
  /// Such a range that `bytes` bytes at `address` touch; empty: nothing but a kernel can have
  /// written any of them.
  virtual Range written_range(std::uint64_t address, std::uint64_t bytes) const = 0;
  /// Where an access of `bytes` bytes lies: "byte 8 of cudaMalloc #2 (64 bytes)".
  virtual std::string describe(const void* address, std::uint64_t bytes) const = 0;

  /// The traces of accesses to global memory; made at the first call.
  virtual GlobalTraces& traces() = 0;
  /// Empties them; all memory counts as written from now on.
  virtual void forget_traces() = 0;

 protected:
  ~WatchedMemory() = default;
};

}  // namespace warpgauge::emulator::machine::checks
