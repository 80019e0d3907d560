// A table of traces for all addresses of the process; it takes no memory where no kernel has been.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "harness/emulator/machine/checks/trace_pool.h"

namespace warpgauge::emulator::machine::checks {

/// An Entry for each Entry::kBytes of memory.
template <typename Entry>
class TraceTable {
 public:
  // calloc leaves pages that nothing touches to the system.
  TraceTable() : regions_(static_cast<Region*>(std::calloc(kRegions, sizeof(Region)))) {
    if (regions_ == nullptr) throw std::bad_alloc();
  }

  Entry& at(std::uint64_t address) { return chunk(address)[index(address)]; }

  /// Finds one entry after the other, most of which lie near the one before. Not to be kept beyond
  /// an access: entries may be forgotten.
  class Finder {
   public:
    explicit Finder(TraceTable& table) : table_(table) {}
    Entry& at(std::uint64_t address) {
      if (address >> kChunkShift != number_) {
        number_ = address >> kChunkShift;
        chunk_ = table_.chunk(address);
      }
      return chunk_[index(address)];
    }

   private:
    TraceTable& table_;
    std::uint64_t number_ = ~std::uint64_t{0};
    Entry* chunk_ = nullptr;
  };

  /// Forgets memory that no kernel accesses at the same time.
  void forget(std::uint64_t begin, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    for (std::uint64_t at = begin; at < begin + bytes;) {
      const std::uint64_t end = std::min(begin + bytes, (at | (kChunkBytes - 1)) + 1);
      if (Chunks* const chunks = regions_[at >> kRegionShift]) {
        forget_in((*chunks)[number(at)], at, end);
      }
      at = end;
    }
  }
  /// Whether `holds` is true of an entry of memory that no kernel accesses at the same time.
  template <typename Holds>
  bool any(std::uint64_t begin, std::uint64_t bytes, Holds holds) const {
    for (std::uint64_t at = begin; at < begin + bytes;) {
      const std::uint64_t end = std::min(begin + bytes, (at | (kChunkBytes - 1)) + 1);
      const Chunks* const chunks = regions_[at >> kRegionShift];
      const Entry* const known = chunks == nullptr ? nullptr : (*chunks)[number(at)].load();
      if (known != nullptr && std::any_of(known + index(at), known + index(end - 1) + 1, holds)) {
        return true;
      }
      at = end;
    }
    return false;
  }
  void forget_all() {
    const std::lock_guard lock(mutex_);
    for (const auto& chunks : made_) {
      for (std::atomic<Entry*>& chunk : *chunks) {
        if (chunk != nullptr) pool_.give_back(chunk.exchange(nullptr));
      }
    }
  }

 private:
  static constexpr int kAddressBits = 47, kRegionShift = 24, kChunkShift = 12;
  static constexpr std::uint64_t kChunkBytes = std::uint64_t{1} << kChunkShift;
  static constexpr std::uint64_t kRegions = std::uint64_t{1} << (kAddressBits - kRegionShift);
  static constexpr std::uint64_t kChunksOfRegion = std::uint64_t{1} << (kRegionShift - kChunkShift);
  using Chunks = std::array<std::atomic<Entry*>, kChunksOfRegion>;
  using Region = std::atomic<Chunks*>;

  static std::uint64_t number(std::uint64_t address) {
    return (address >> kChunkShift) % kChunksOfRegion;
  }
  static std::uint64_t index(std::uint64_t address) {
    return address % kChunkBytes / Entry::kBytes;
  }

  Entry* chunk(std::uint64_t address) {
    const Chunks* const chunks = regions_[address >> kRegionShift].load(std::memory_order_acquire);
    Entry* known = nullptr;
    if (chunks != nullptr) known = (*chunks)[number(address)].load(std::memory_order_acquire);
    return known != nullptr ? known : make(address);
  }

  void forget_in(std::atomic<Entry*>& chunk, std::uint64_t begin, std::uint64_t end) {
    Entry* const known = chunk;
    if (known == nullptr) return;
    if (end - begin == kChunkBytes) {
      pool_.give_back(chunk.exchange(nullptr));
    } else {
      std::fill(known + index(begin), known + index(end - 1) + 1, Entry());
    }
  }

  Entry* make(std::uint64_t address) {
    const std::lock_guard lock(mutex_);
    Region& region = regions_[address >> kRegionShift];
    if (region == nullptr) region = made_.emplace_back(std::make_unique<Chunks>()).get();
    std::atomic<Entry*>& chunk = (*region.load())[number(address)];
    if (chunk == nullptr) chunk = static_cast<Entry*>(pool_.take());
    return chunk;
  }

  struct Free {
    void operator()(Region* regions) const { std::free(regions); }
  };
  std::unique_ptr<Region[], Free> regions_;
  std::mutex mutex_;  ///< protects the members below
  std::vector<std::unique_ptr<Chunks>> made_;
  TracePool pool_{kChunkBytes / Entry::kBytes * sizeof(Entry)};
};

}  // namespace warpgauge::emulator::machine::checks
