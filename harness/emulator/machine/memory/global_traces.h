// The traces of accesses to global memory, for all addresses of the process; they take no memory
// where no kernel has been.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "harness/emulator/machine/memory/trace.h"

namespace warpgauge::emulator::machine::memory {

class GlobalTraces {
 public:
  static constexpr int kChunkShift = 24;
  static constexpr std::uint64_t kChunkBytes = std::uint64_t{1} << kChunkShift;

  GlobalTraces();
  ~GlobalTraces();
  GlobalTraces(const GlobalTraces&) = delete;
  GlobalTraces& operator=(const GlobalTraces&) = delete;

  /// The traces of the words of the chunk that the address lies in.
  WordTraces* chunk(std::uint64_t address) {
    WordTraces* const known = table_[address >> kChunkShift].load(std::memory_order_acquire);
    return known != nullptr ? known : make(address);
  }
  static std::uint64_t word(std::uint64_t address) { return (address & (kChunkBytes - 1)) / 4; }
  /// Forgets the accesses of memory that gets another use.
  void forget(std::uint64_t begin, std::uint64_t bytes);
  void forget_all();

  /// Time of the traces: goes on at launches and fences.
  std::atomic<std::uint64_t> now = 0;

 private:
  static constexpr int kAddressBits = 47;
  static constexpr std::uint64_t kChunks = std::uint64_t{1} << (kAddressBits - kChunkShift);
  static constexpr std::uint64_t kTraceBytes = kChunkBytes / 4 * sizeof(WordTraces);

  WordTraces* make(std::uint64_t address);

  std::atomic<WordTraces*>* table_;
  std::mutex mutex_;
  std::vector<WordTraces*> made_;
};

}  // namespace warpgauge::emulator::machine::memory
