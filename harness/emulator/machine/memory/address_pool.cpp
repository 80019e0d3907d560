// Address space for the blocks of Memory, from mmap: pages cost nothing until they are touched.
#include "harness/emulator/machine/memory/address_pool.h"

#include <sys/mman.h>

#include <bit>

namespace warpgauge::emulator::machine::memory {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;
constexpr std::uint64_t kChunk = std::uint64_t{16} << 20;
constexpr std::uint64_t kLargestSmall = 64 * 1024;  ///< blocks of more bytes are mapped each
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 46;

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// The size of a small block together with the red zone behind it. Few sizes, so that freed ones
/// fit again: four steps from one power of two to the next.
std::uint64_t slot_bytes(std::uint64_t bytes) {
  const std::uint64_t needed = round_up(bytes, kBlockAlignment) + kRedZone;
  const std::uint64_t step = std::bit_floor(needed) / 4;
  return round_up(needed, step < kBlockAlignment ? kBlockAlignment : step);
}

/// The alignment of a block.
std::uint64_t alignment_of(std::uint64_t bytes) { return bytes < kHugePage ? kPage : kHugePage; }

/// The mapping of a large block: at least a page of red zone in front, and kRedZone behind.
std::uint64_t mapped_bytes(std::uint64_t bytes) {
  return alignment_of(bytes) + round_up(bytes + kRedZone, kPage);
}

std::byte* map(std::uint64_t bytes) {
  void* const begin = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return begin == MAP_FAILED ? nullptr : static_cast<std::byte*>(begin);
}

}  // namespace

MemoryPool::~MemoryPool() {
  for (const Mapping& chunk : chunks_) munmap(chunk.begin, chunk.bytes);
  for (const auto& [block, mapping] : large_) munmap(mapping.begin, mapping.bytes);
}

bool MemoryPool::is_large(std::uint64_t bytes) { return bytes > kLargestSmall; }

std::byte* MemoryPool::take(std::uint64_t bytes) {
  if (bytes > kMostBytes) return nullptr;
  if (!is_large(bytes)) return take_small(slot_bytes(bytes));
  const Mapping mapping = {map(mapped_bytes(bytes)), mapped_bytes(bytes)};
  if (mapping.begin == nullptr) return nullptr;
  const std::uint64_t alignment = alignment_of(bytes);
  const auto first = reinterpret_cast<std::uintptr_t>(mapping.begin);
  std::byte* const block = mapping.begin + (round_up(first + kPage, alignment) - first);
  // A fault for each page of 4 KiB takes longer than to write it.
  if (bytes >= kHugePage) madvise(block, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  large_.emplace(block, mapping);
  return block;
}

std::byte* MemoryPool::take_small(std::uint64_t slot) {
  std::vector<std::byte*>& free = free_[slot];
  if (!free.empty()) {
    std::byte* const block = free.back();
    free.pop_back();
    return block;
  }
  if (chunk_end_ - unused_ < static_cast<std::ptrdiff_t>(slot)) {
    std::byte* const begin = map(kChunk);
    if (begin == nullptr) return nullptr;
    chunks_.push_back({begin, kChunk});
    unused_ = begin + kRedZone;
    chunk_end_ = begin + kChunk;
  }
  std::byte* const block = unused_;
  unused_ += slot;
  return block;
}

void MemoryPool::discard(std::byte* block, std::uint64_t bytes) {
  if (is_large(bytes)) madvise(block, bytes, MADV_DONTNEED);
}

void MemoryPool::give_back(std::byte* block, std::uint64_t bytes) {
  if (is_large(bytes)) {
    const auto mapped = large_.find(block);
    munmap(mapped->second.begin, mapped->second.bytes);
    large_.erase(mapped);
  } else {
    free_[slot_bytes(bytes)].push_back(block);
  }
}

}  // namespace warpgauge::emulator::machine::memory
