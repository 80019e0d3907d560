// Memory for traces, from mmap: pages cost nothing until they are touched. Large ones, as faults of
// small ones would cost as much as all the rest.
#include "harness/emulator/machine/memory/global_traces.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace warpgauge::emulator::machine::memory {
namespace {

constexpr std::uint64_t kPage = 4096;

void* map(std::uint64_t bytes) {
  void* const begin = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) throw std::bad_alloc();
  return begin;
}

/// Makes them zeros: whole pages are given back.
void clear(WordTraces* begin, WordTraces* end) {
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  const auto last = reinterpret_cast<std::uintptr_t>(end);
  const std::uint64_t pages = (first + kPage - 1) / kPage * kPage, pages_end = last / kPage * kPage;
  if (pages >= pages_end) {
    std::memset(static_cast<void*>(begin), 0, last - first);
    return;
  }
  std::memset(static_cast<void*>(begin), 0, pages - first);
  madvise(reinterpret_cast<void*>(pages), pages_end - pages, MADV_DONTNEED);
  std::memset(reinterpret_cast<void*>(pages_end), 0, last - pages_end);
}

}  // namespace

GlobalTraces::GlobalTraces()
    : table_(static_cast<std::atomic<WordTraces*>*>(map(kChunks * sizeof(*table_)))) {}

GlobalTraces::~GlobalTraces() {
  for (WordTraces* const chunk : made_) munmap(chunk, kTraceBytes);
  munmap(table_, kChunks * sizeof(*table_));
}

WordTraces* GlobalTraces::make(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  std::atomic<WordTraces*>& entry = table_[address >> kChunkShift];
  if (entry == nullptr) {
    made_.push_back(static_cast<WordTraces*>(map(kTraceBytes)));
    madvise(made_.back(), kTraceBytes, MADV_HUGEPAGE);
    entry = made_.back();
  }
  return entry;
}

void GlobalTraces::forget(std::uint64_t begin, std::uint64_t bytes) {
  for (std::uint64_t at = begin; at < begin + bytes;) {
    const std::uint64_t chunk_end = (at | (kChunkBytes - 1)) + 1;
    const std::uint64_t end = std::min(begin + bytes, chunk_end);
    WordTraces* const known = table_[at >> kChunkShift];
    if (known != nullptr) clear(known + word(at), known + word(end - 1) + 1);
    at = end;
  }
}

void GlobalTraces::forget_all() {
  for (WordTraces* const chunk : made_) madvise(chunk, kTraceBytes, MADV_DONTNEED);
  now = 0;
}

}  // namespace warpgauge::emulator::machine::memory
