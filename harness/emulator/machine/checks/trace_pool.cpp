// Memory for traces.
#include "harness/emulator/machine/checks/trace_pool.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace warpgauge::emulator::machine::checks {

TracePool::~TracePool() {
  for (void* const slab : slabs_) std::free(slab);
}

void* TracePool::take() {
  if (free_.empty()) add_slab();
  void* const block = free_.back();
  free_.pop_back();
  return std::memset(block, 0, block_bytes_);
}

void TracePool::add_slab() {
  auto* const slab = static_cast<std::byte*>(std::aligned_alloc(kSlabBytes, kSlabBytes));
  if (slab == nullptr) throw std::bad_alloc();
  madvise(slab, kSlabBytes, MADV_HUGEPAGE);
  slabs_.push_back(slab);
  for (std::uint64_t at = kSlabBytes; at != 0; at -= block_bytes_) {
    free_.push_back(slab + at - block_bytes_);
  }
}

}  // namespace warpgauge::emulator::machine::checks
