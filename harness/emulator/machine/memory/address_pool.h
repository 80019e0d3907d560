// Address space for the blocks of Memory: small ones share chunks, large ones are mapped each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace warpgauge::emulator::machine::memory {

inline constexpr std::uint64_t kBlockAlignment = 512;
/// At least so much lies unused around a block.
inline constexpr std::uint64_t kRedZone = kBlockAlignment;

/// Memory for blocks. Only one thread at a time may use it.
class MemoryPool {
 public:
  MemoryPool() = default;
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// A block with red zones around it, aligned to kBlockAlignment; nullptr if there is not that
  /// much address space.
  std::byte* take(std::uint64_t bytes);
  /// The block's contents are no longer needed: gives the pages of large ones back to the system,
  /// while its addresses stay reserved.
  void discard(std::byte* block, std::uint64_t bytes);
  /// The block's addresses may be taken again.
  void give_back(std::byte* block, std::uint64_t bytes);

  static bool is_large(std::uint64_t bytes);

 private:
  struct Mapping {
    std::byte* begin;
    std::uint64_t bytes;
  };
  std::byte* take_small(std::uint64_t slot);

  std::vector<Mapping> chunks_;
  std::byte* unused_ = nullptr;  ///< where the last chunk's free part begins
  std::byte* chunk_end_ = nullptr;
  std::map<std::uint64_t, std::vector<std::byte*>> free_;  ///< by size of slot
  std::map<std::byte*, Mapping> large_;                    ///< mappings of large blocks
};

}  // namespace warpgauge::emulator::machine::memory
