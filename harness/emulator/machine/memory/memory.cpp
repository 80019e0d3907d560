// Device memory: the list of allocations, and how their surroundings are described.
#include "harness/emulator/machine/memory/memory.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <utility>

#include "harness/emulator/machine/checks/global_traces.h"
#include "harness/emulator/machine/core/window.h"
#include "harness/emulator/machine/memory/address_pool.h"

namespace warpgauge::emulator::machine::memory {
namespace {

/// Freed blocks wait until so much has been freed after them. Large ones hold address space only.
constexpr std::uint64_t kSmallQuarantine = std::uint64_t{32} << 20;
constexpr std::uint64_t kLargeQuarantine = std::uint64_t{64} << 30;
constexpr std::size_t kMostLargeBlocks = 1024;  ///< the system bounds the number of mappings
constexpr std::uint64_t kNullPage = 4096;       ///< addresses below come from null pointers
constexpr std::uint64_t kKeptBytes = 4096;      ///< are kept at once of what kernels write

std::uint64_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

std::string count_bytes(std::uint64_t n) {
  return std::to_string(n) + (n == 1 ? " byte" : " bytes");
}

std::string title(const Memory::Allocation& allocation) {
  return allocation.name + " (" + count_bytes(allocation.bytes) + ")" +
         (allocation.freed ? ", which was freed" : "");
}

/// Bytes between an address outside of the allocation and its nearest end.
std::uint64_t distance(const Memory::Allocation& allocation, std::uint64_t address) {
  const std::uint64_t begin = number_of(allocation.begin);
  return address < begin ? begin - address : address - number_of(allocation.end());
}

std::string relative(const Memory::Allocation& allocation, std::uint64_t address,
                     std::uint64_t bytes) {
  const std::uint64_t begin = number_of(allocation.begin);
  const std::uint64_t end = number_of(allocation.end());
  const std::string name = title(allocation);
  if (address < begin) return count_bytes(begin - address) + " before " + name;
  if (address == end) return "right past the end of " + name;
  if (address > end) return count_bytes(address - end) + " past the end of " + name;
  if (bytes > end - address) {
    return "the last " + count_bytes(bytes - (end - address)) + " are past the end of " + name;
  }
  return "byte " + std::to_string(address - begin) + " of " + name;
}

/// Ranges of addresses, apart from each other: their ends by their begins.
class Ranges {
 public:
  void insert(std::uint64_t begin, std::uint64_t end) {
    auto at = ends_.upper_bound(begin);
    if (at != ends_.begin() && std::prev(at)->second >= begin) begin = (--at)->first;
    while (at != ends_.end() && at->first <= end) {
      end = std::max(end, at->second);
      at = ends_.erase(at);
    }
    ends_[begin] = end;
  }
  void erase(std::uint64_t begin, std::uint64_t end) {  // of whole ranges
    ends_.erase(ends_.lower_bound(begin), ends_.lower_bound(end));
  }
  /// The last one that has addresses in common with these; empty: none has.
  Memory::Range touching(std::uint64_t begin, std::uint64_t end) const {
    const auto behind = ends_.lower_bound(end);
    if (behind == ends_.begin() || std::prev(behind)->second <= begin) return {};
    return {std::prev(behind)->first, std::prev(behind)->second};
  }

 private:
  std::map<std::uint64_t, std::uint64_t> ends_;
};

/// What kernels have done since a time.
struct Watch {
  Memory::Changes changes;
  Ranges kept;                    ///< of changes.written
  std::set<std::uint64_t> fresh;  ///< begins of allocations since then: nothing was there before

  void keep(const Memory::Allocation& allocation, std::uint64_t address, std::uint64_t bytes) {
    const std::uint64_t end = address + bytes;
    for (std::uint64_t at = address & ~(kKeptBytes - 1); at < end; at += kKeptBytes) {
      const std::uint64_t from = std::max(at, number_of(allocation.begin));
      const std::uint64_t to = std::min(at + kKeptBytes, number_of(allocation.end()));
      const Memory::Range known = kept.touching(from, to);
      if (known.begin != known.end) continue;
      std::byte* const begin = allocation.begin + (from - number_of(allocation.begin));
      changes.written.push_back({begin, {begin, begin + (to - from)}});
      kept.insert(from, to);
    }
  }
};

}  // namespace

struct Memory::Impl {
  using Blocks = std::map<std::uint64_t, Allocation>;  ///< by begin; the freed ones too

  mutable std::shared_mutex mutex;
  MemoryPool pool;
  Blocks blocks;
  std::deque<std::uint64_t> small_quarantine, large_quarantine;  ///< begins, oldest first
  std::uint64_t small_quarantined = 0, large_quarantined = 0;    ///< bytes
  std::uint64_t in_use = 0;
  Ranges written;                                ///< by the host
  std::unique_ptr<checks::GlobalTraces> traces;  ///< nullptr: nothing asks for them
  std::optional<Watch> watch;                    ///< nothing: kernels are not watched
  std::set<std::uint64_t> taken_back;            ///< begins of what was made on the heap

  /// The last block that begins at or in front of `address`; end() if there is none.
  Blocks::const_iterator last_before(std::uint64_t address) const {
    const auto behind = blocks.upper_bound(address);
    return behind == blocks.begin() ? blocks.end() : std::prev(behind);
  }

  const Allocation* live(std::uint64_t address) const {
    const auto found = last_before(address);
    if (found == blocks.end() || found->second.freed) return nullptr;
    return address < number_of(found->second.end()) ? &found->second : nullptr;
  }

  const Allocation* nearest(std::uint64_t address) const {
    const auto behind = blocks.upper_bound(address);
    const Allocation* const next = behind == blocks.end() ? nullptr : &behind->second;
    if (behind == blocks.begin()) return next;
    const Allocation* const previous = &std::prev(behind)->second;
    if (next == nullptr || address < number_of(previous->end())) return previous;
    return distance(*next, address) < distance(*previous, address) ? next : previous;
  }

  void quarantine(const Allocation& allocation) {
    const std::uint64_t begin = number_of(allocation.begin);
    pool.discard(allocation.begin, allocation.bytes);
    if (MemoryPool::is_large(allocation.bytes)) {
      large_quarantine.push_back(begin);
      large_quarantined += allocation.bytes;
      while (large_quarantined > kLargeQuarantine || large_quarantine.size() > kMostLargeBlocks) {
        release_oldest(large_quarantine, large_quarantined);
      }
    } else {
      small_quarantine.push_back(begin);
      small_quarantined += allocation.bytes + kRedZone;
      while (small_quarantined > kSmallQuarantine) {
        small_quarantined -= kRedZone;
        release_oldest(small_quarantine, small_quarantined);
      }
    }
  }

  /// Whether the block, which a kernel has freed, stays as it is.
  bool stays(const Allocation& allocation) {
    if (!watch || allocation.kind != Kind::heap) return false;
    if (watch->changes.made.erase(allocation.begin) > 0) return false;
    watch->changes.freed.emplace(allocation.begin, allocation);
    return true;
  }

  void set_live(const std::map<const std::byte*, Allocation>& allocations, bool live) {
    for (const auto& [begin, each] : allocations) {
      blocks.at(number_of(begin)).freed = !live;
      in_use += live ? each.bytes : -each.bytes;
    }
  }

  void release_oldest(std::deque<std::uint64_t>& queue, std::uint64_t& bytes) {
    const auto oldest = blocks.find(queue.front());
    queue.pop_front();
    bytes -= oldest->second.bytes;
    pool.give_back(oldest->second.begin, oldest->second.bytes);
    blocks.erase(oldest);
  }
};

Memory::Memory() : impl_(std::make_unique<Impl>()) {}
Memory::~Memory() = default;

std::byte* Memory::allocate(std::uint64_t bytes, Kind kind, std::string name) {
  if (bytes == 0) return nullptr;
  const std::unique_lock lock(impl_->mutex);
  std::byte* const begin = impl_->pool.take(bytes);
  if (begin == nullptr) return nullptr;
  const Allocation& made = impl_->blocks[number_of(begin)] = {begin, bytes, kind, std::move(name)};
  if (impl_->watch) {
    impl_->watch->fresh.insert(number_of(begin));
    if (kind == Kind::heap) impl_->watch->changes.made.emplace(begin, made);
  }
  impl_->in_use += bytes;
  impl_->written.erase(number_of(begin), number_of(begin) + bytes);
  return begin;
}

void Memory::note_written(const void* begin, std::uint64_t bytes) {
  if (bytes == 0) return;
  const std::unique_lock lock(impl_->mutex);
  if (impl_->live(number_of(begin)) == nullptr) return;
  impl_->written.insert(number_of(begin), number_of(begin) + bytes);
}

void Memory::note_copied(const void* to, const void* from, std::uint64_t bytes) {
  const Range written = written_range(number_of(from), bytes);
  const bool is_written =
      written.begin != written.end ||
      (impl_->traces != nullptr && impl_->traces->any_written(number_of(from), bytes));
  if (is_written) note_written(to, bytes);
}

Memory::Range Memory::written_range(std::uint64_t address, std::uint64_t bytes) const {
  const std::shared_lock lock(impl_->mutex);
  const Allocation* const allocation = impl_->live(address);
  if (allocation == nullptr) return {address, address + bytes};
  const bool is_device_only =
      !allocation->adopted && (allocation->kind == Kind::device || allocation->kind == Kind::heap);
  if (!is_device_only) return {number_of(allocation->begin), number_of(allocation->end())};
  return impl_->written.touching(address, address + bytes);
}

checks::GlobalTraces& Memory::traces() {
  const std::unique_lock lock(impl_->mutex);
  if (impl_->traces == nullptr) impl_->traces = std::make_unique<checks::GlobalTraces>();
  return *impl_->traces;
}

bool Memory::free(std::byte* begin) {
  const std::unique_lock lock(impl_->mutex);
  const auto found = impl_->blocks.find(number_of(begin));
  if (found == impl_->blocks.end() || found->second.freed || found->second.adopted) return false;
  found->second.freed = true;
  impl_->in_use -= found->second.bytes;
  __atomic_fetch_add(&generation_, 1, __ATOMIC_RELEASE);
  if (impl_->traces != nullptr) impl_->traces->forget(number_of(begin), found->second.bytes);
  if (!impl_->stays(found->second)) impl_->quarantine(found->second);
  return true;
}

bool Memory::adopt(std::byte* begin, std::uint64_t bytes, Kind kind, std::string name) {
  const std::unique_lock lock(impl_->mutex);
  const std::uint64_t first = number_of(begin);
  const auto behind = impl_->blocks.upper_bound(first + bytes - 1);
  const bool overlaps =
      behind != impl_->blocks.begin() && number_of(std::prev(behind)->second.end()) > first;
  if (overlaps) return false;
  Allocation adopted{begin, bytes, kind, std::move(name)};
  adopted.adopted = true;
  impl_->blocks[first] = std::move(adopted);
  return true;
}

bool Memory::release(std::byte* begin) {
  const std::unique_lock lock(impl_->mutex);
  const auto found = impl_->blocks.find(number_of(begin));
  if (found == impl_->blocks.end() || !found->second.adopted) return false;
  impl_->blocks.erase(found);
  __atomic_fetch_add(&generation_, 1, __ATOMIC_RELEASE);
  return true;
}

void Memory::make_read_only(std::byte* begin, Rights rights, std::string why) {
  const std::unique_lock lock(impl_->mutex);
  Allocation& allocation = impl_->blocks.at(number_of(begin));
  allocation.rights = rights;
  allocation.why_read_only = std::move(why);
  __atomic_fetch_add(&generation_, 1, __ATOMIC_RELEASE);
}

void Memory::tell_uses(const std::byte* begin) {
  const std::unique_lock lock(impl_->mutex);
  impl_->blocks.at(number_of(begin)).tells_uses = true;
}

std::optional<Memory::Allocation> Memory::find(const void* address) const {
  const std::shared_lock lock(impl_->mutex);
  const Allocation* const found = impl_->live(number_of(address));
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::optional<Memory::Allocation> Memory::freed(const void* address) const {
  const std::shared_lock lock(impl_->mutex);
  const auto found = impl_->blocks.find(number_of(address));
  const bool is_freed = found != impl_->blocks.end() && found->second.freed;
  return is_freed ? std::optional(found->second) : std::nullopt;
}

namespace {

Memory::Extent extent_of(const Memory::Allocation& allocation) {
  const std::uint64_t begin = number_of(allocation.begin);
  return {begin, number_of(allocation.end()), allocation.rights, allocation.tells_uses, begin};
}

}  // namespace

std::optional<Memory::Extent> Memory::extent(std::uint64_t address) const {
  const std::shared_lock lock(impl_->mutex);
  const Allocation* const found = impl_->live(address);
  if (found == nullptr) return std::nullopt;
  return extent_of(*found);
}

std::optional<Memory::Extent> Memory::extent_to_write(std::uint64_t address, std::uint64_t bytes) {
  if (!is_watched_) return extent(address);
  const std::unique_lock lock(impl_->mutex);
  const Allocation* const found = impl_->live(address);
  if (found == nullptr) return std::nullopt;
  Extent extent = extent_of(*found);
  Watch& watch = *impl_->watch;
  if (extent.rights != Rights::write || watch.fresh.contains(extent.begin)) return extent;
  watch.keep(*found, address, std::clamp<std::uint64_t>(bytes, 1, extent.end - address));
  const Range kept = watch.kept.touching(address, address + 1);
  extent.begin = std::max(extent.begin, kept.begin);
  extent.end = std::min(extent.end, kept.end);
  return extent;
}

std::string Memory::describe(const void* address, std::uint64_t bytes) const {
  const std::uint64_t number = number_of(address);
  if (number == 0) return "a null pointer";
  if (number < kNullPage) return "a null pointer plus " + count_bytes(number);
  switch (window_of(number)) {
    case Window::global:
      break;
    case Window::shared:
      return "a generic address of shared memory";
    case Window::local:
      return "a generic address of local memory";
    case Window::parameter:
      return "a generic address of a kernel parameter";
    default:
      return "not a valid address";
  }
  const std::shared_lock lock(impl_->mutex);
  const Allocation* const nearest = impl_->nearest(number);
  return nearest == nullptr ? "in no allocation" : relative(*nearest, number, bytes);
}

void Memory::watch_kernels() {
  const std::unique_lock lock(impl_->mutex);
  impl_->watch.emplace();
  is_watched_ = true;
  __atomic_fetch_add(&generation_, 1, __ATOMIC_RELEASE);
}

Memory::Changes Memory::take_changes() {
  const std::unique_lock lock(impl_->mutex);
  Changes changes = std::exchange(*impl_->watch, {}).changes;
  impl_->set_live(changes.made, false);
  impl_->set_live(changes.freed, true);
  for (const auto& [begin, made] : changes.made) impl_->taken_back.insert(number_of(begin));
  std::erase_if(changes.written, [&](const Written& written) {
    return impl_->live(number_of(written.begin)) == nullptr;
  });
  std::ranges::sort(changes.written, {}, &Written::begin);
  __atomic_fetch_add(&generation_, 1, __ATOMIC_RELEASE);
  return changes;
}

void Memory::settle(const Changes& changes) {
  const std::unique_lock lock(impl_->mutex);
  impl_->set_live(changes.made, true);
  impl_->set_live(changes.freed, false);
  for (const auto& [begin, made] : changes.made) impl_->taken_back.erase(number_of(begin));
  for (const std::uint64_t begin : impl_->taken_back) impl_->quarantine(impl_->blocks.at(begin));
  for (const auto& [begin, freed] : changes.freed) impl_->quarantine(freed);
  impl_->taken_back.clear();
  impl_->watch.reset();
  is_watched_ = false;
  __atomic_fetch_add(&generation_, 1, __ATOMIC_RELEASE);
}

void Memory::forget_traces() {
  const std::unique_lock lock(impl_->mutex);
  if (impl_->traces == nullptr) return;
  for (const auto& [begin, allocation] : impl_->blocks) {
    impl_->written.insert(begin, begin + allocation.bytes);
  }
  impl_->traces->forget_all();
}

std::uint64_t Memory::bytes_in_use() const {
  const std::shared_lock lock(impl_->mutex);
  return impl_->in_use;
}

bool Memory::has_adopted() const {
  const std::shared_lock lock(impl_->mutex);
  return std::ranges::any_of(impl_->blocks, [](const auto& block) { return block.second.adopted; });
}

std::vector<Memory::Allocation> Memory::unfreed() const {
  const std::shared_lock lock(impl_->mutex);
  std::vector<Allocation> unfreed;
  for (const auto& [begin, allocation] : impl_->blocks) {
    const bool is_of_device = allocation.kind == Kind::device || allocation.kind == Kind::managed ||
                              allocation.kind == Kind::array;
    if (is_of_device && !allocation.freed && !allocation.adopted) unfreed.push_back(allocation);
  }
  return unfreed;
}

}  // namespace warpgauge::emulator::machine::memory
