// Distances, patterns and bounds of memory accesses that were not seen before, and their faults.
#include "harness/emulator/machine/memory/access_check.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "harness/emulator/machine/fault.h"
#include "harness/emulator/machine/memory/access_cost.h"
#include "harness/emulator/machine/memory/access_record.h"
#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::memory {
namespace {

std::string hexadecimal(std::uint64_t value) {
  std::ostringstream out;
  out << "0x" << std::hex << value;
  return out.str();
}

std::string bytes_text(std::uint64_t n) {
  return std::to_string(n) + (n == 1 ? " byte" : " bytes");
}

/// "global read of 4 bytes at 0x7f..."
std::string title(const Access& access, const char* space, std::uint64_t address) {
  std::string verb;
  switch (access.effect) {
    case AccessEffect::read:
      verb = "read";
      break;
    case AccessEffect::write:
      verb = "write";
      break;
    case AccessEffect::update:
      verb = "atomic access";
      break;
  }
  return std::string(space) + " " + verb + " of " + bytes_text(access.width) + " at " +
         hexadecimal(address);
}

const char* name_of(const Access& access, Window window) {
  if (access.space == AccessSpace::constant) return "constant";
  switch (window) {
    case Window::shared:
      return "shared";
    case Window::local:
      return "local";
    case Window::parameter:
      return "parameter";
    default:
      return "global";
  }
}

template <typename Address>
std::uint64_t address_of(const LaneAddresses<Address>& lanes, int lane) {
  return static_cast<Address>(lanes.addresses[lane] + static_cast<Address>(lanes.offset));
}

/// The first lane for which `test(address)` holds; there is one.
template <typename Address, typename Test>
int first_lane(const LaneAddresses<Address>& lanes, Test test) {
  for (Mask rest = lanes.lanes; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (test(address_of(lanes, lane))) return lane;
  }
  return std::countr_zero(lanes.lanes);
}

[[noreturn]] void refuse(const Warp& warp, const Instruction& instruction, int lane,
                         Fault::Kind kind, const std::string& what) {
  fault(warp, instruction, Mask{1} << lane, kind, what.c_str());
}

template <typename Address>
[[noreturn]] void refuse_misaligned(const Warp& warp, const Instruction& instruction,
                                    const Access& access, Window window,
                                    const LaneAddresses<Address>& lanes) {
  const int lane =
      first_lane(lanes, [&](std::uint64_t address) { return address % access.width != 0; });
  refuse(warp, instruction, lane, Fault::Kind::misaligned_address,
         "misaligned " + title(access, name_of(access, window), address_of(lanes, lane)) +
             ": the address must be a multiple of " + std::to_string(access.width));
}

template <typename Address>
AccessPattern pattern_of(const Access& access, Window window, const LaneAddresses<Address>& lanes,
                         const LaneDistances<Address>& distances) {
  AccessPattern pattern;
  pattern.mask = lanes.lanes;
  pattern.low_bits = static_cast<std::uint32_t>(address_of(lanes, std::countr_zero(lanes.lanes))) &
                     access.low_mask[static_cast<std::size_t>(window)];
  // Of a single lane both are true. Contiguous is the one that works in the same way for all.
  if (distances.contiguous) {
    pattern.pattern = Pattern::contiguous;
  } else if (distances.lowest == 0 && distances.highest == 0) {
    pattern.pattern = Pattern::uniform;
  }
  pattern.lowest = distances.lowest;
  pattern.behind = static_cast<std::int64_t>(
      static_cast<std::uint64_t>(std::int64_t{distances.highest}) + access.width);
  return pattern;
}

/// Keeps the present pattern among the earlier ones.
void put_aside(AccessCache& cache) {
  constexpr std::size_t kMostEarlier = 8;
  if (cache.earlier.size() < kMostEarlier) {
    cache.earlier.push_back({cache.now, cache.cost, cache.distances});
  } else {
    cache.earlier[cache.oldest] = {cache.now, cache.cost, cache.distances};
    cache.oldest = (cache.oldest + 1) % kMostEarlier;
  }
}

/// Makes an earlier pattern the present one, if there is one that is the same; the present one
/// takes its place.
bool recall(AccessCache& cache, const AccessPattern& wanted, const void* distances,
            std::size_t bytes) {
  for (AccessCache::Earlier& earlier : cache.earlier) {
    if (earlier.pattern.mask != wanted.mask || earlier.pattern.low_bits != wanted.low_bits)
      continue;
    if (std::memcmp(earlier.distances.of_64_bits, distances, bytes) != 0) continue;
    std::swap(earlier.pattern, cache.now);
    std::swap(earlier.cost, cache.cost);
    std::swap(earlier.distances, cache.distances);
    return true;
  }
  return false;
}

AccessCache& cache_of(const Warp& warp, const Access& access, Window window) {
  return warp.memory->caches[access.counters[static_cast<std::size_t>(window)]];
}

/// Makes the pattern of these addresses the present one, with one execution to be counted; false if
/// its cost is not known yet.
template <typename Address>
bool remember_addresses(const Warp& warp, const Instruction& instruction, const Access& access,
                        Window window, const LaneAddresses<Address>& lanes,
                        const LaneDistances<Address>& distances, bool may_recall) {
  if ((distances.low_bits & (access.width - 1u)) != 0) {
    refuse_misaligned(warp, instruction, access, window, lanes);
  }
  AccessCache& cache = cache_of(warp, access, window);
  const AccessPattern pattern = pattern_of(access, window, lanes, distances);
  cache.settle();
  cache.repeats = 1;
  if (may_recall && recall(cache, pattern, distances.of, sizeof(distances.of))) return true;
  if (may_recall && cache.now.mask != 0) put_aside(cache);
  cache.now = pattern;
  std::memcpy(cache.distances.of_64_bits, distances.of, sizeof(distances.of));
  return !access.counts;
}

/// The addresses that count: as those of an access of counted_width.
template <typename Counted, typename Address>
std::array<Counted, kLanes> counted(const Access& access, const LaneAddresses<Address>& lanes) {
  std::array<Counted, kLanes> result;
  const std::uint64_t low = access.counted_width - 1u;
  for (int lane = 0; lane < kLanes; ++lane) {
    result[static_cast<std::size_t>(lane)] = static_cast<Counted>(address_of(lanes, lane) & ~low);
  }
  return result;
}

/// Shows an access that was counted just now to the recorder, if there is one.
template <typename Counted, typename Address>
void record(const Warp& warp, const Access& access, Window window,
            const LaneAddresses<Address>& lanes) {
  metrics::WarpAccess* const records = warp.memory->records;
  if (records == nullptr || !access.counts) return;
  record_access(records[access.counters[static_cast<std::size_t>(window)]], warp,
                cache_of(warp, access, window), access, counted<Counted>(access, lanes),
                lanes.lanes);
}

bool has_right(const Access& access, bool writable) {
  if (access.space == AccessSpace::constant) return !writable;
  return writable || access.effect == AccessEffect::read;
}

/// Null if the access is inside of a live allocation and has the right to be; else why not.
std::optional<std::string> objection(const Memory& memory, const Access& access,
                                     std::uint64_t address, std::uint64_t bytes,
                                     Memory::Extent* extent) {
  const std::optional<Memory::Extent> found = memory.extent(address);
  const auto* const pointer = reinterpret_cast<const void*>(address);
  if (!found || address + bytes > found->end) return memory.describe(pointer, bytes);
  if (!has_right(access, found->writable)) {
    return memory.describe(pointer, bytes) +
           (found->writable ? ", which is not constant memory" : ", which is constant");
  }
  *extent = *found;
  return std::nullopt;
}

}  // namespace

void remember_shared(const Warp& warp, const Instruction& instruction, const Access& access,
                     const LaneAddresses<std::uint32_t>& lanes,
                     const LaneDistances<std::uint32_t>& distances) {
  if (!remember_addresses(warp, instruction, access, Window::shared, lanes, distances, true)) {
    count_shared(cache_of(warp, access, Window::shared), access,
                 counted<std::uint32_t>(access, lanes), lanes.lanes);
  }
  record<std::uint32_t>(warp, access, Window::shared, lanes);
}

void remember_global(const Warp& warp, const Instruction& instruction, const Access& access,
                     const LaneAddresses<std::uint64_t>& lanes,
                     const LaneDistances<std::uint64_t>& distances) {
  if (!remember_addresses(warp, instruction, access, Window::global, lanes, distances, true)) {
    count_global(cache_of(warp, access, Window::global), access,
                 counted<std::uint64_t>(access, lanes), lanes.lanes);
  }
  record<std::uint64_t>(warp, access, Window::global, lanes);
}

void remember_local(const Warp& warp, const Instruction& instruction, const Access& access,
                    const LaneAddresses<std::uint64_t>& lanes,
                    const LaneDistances<std::uint64_t>& distances) {
  if (remember_addresses(warp, instruction, access, Window::local, lanes, distances, true)) return;
  count_local(cache_of(warp, access, Window::local), access, counted<std::uint32_t>(access, lanes),
              lanes.lanes);
}

void remember_copy(const Warp& warp, const Instruction& instruction, const CopyDetail& copy,
                   const LaneAddresses<std::uint32_t>& to,
                   const LaneDistances<std::uint32_t>& to_distances,
                   const LaneAddresses<std::uint64_t>& from,
                   const LaneDistances<std::uint64_t>& from_distances) {
  // The cost of each side depends on both, so neither may be recalled by itself.
  remember_addresses(warp, instruction, copy.to, Window::shared, to, to_distances, false);
  remember_addresses(warp, instruction, copy.from, Window::global, from, from_distances, false);
  if (!copy.to.counts) return;
  count_copy(cache_of(warp, copy.to, Window::shared), cache_of(warp, copy.from, Window::global),
             copy.to, counted<std::uint32_t>(copy.to, to), counted<std::uint64_t>(copy.from, from),
             to.lanes, from.lanes);
  record<std::uint32_t>(warp, copy.to, Window::shared, to);
  record<std::uint64_t>(warp, copy.from, Window::global, from);
}

void admit_lane(const Warp& warp, const Instruction& instruction, const Access& access, int lane,
                std::uint64_t address, std::uint64_t bytes) {
  Memory::Extent extent;
  const auto why = objection(*warp.memory->memory, access, address, bytes, &extent);
  if (!why) return;
  refuse(warp, instruction, lane, Fault::Kind::illegal_address,
         "invalid " + title(access, name_of(access, Window::global), address) + ": " + *why);
}

void admit(const Warp& warp, const Instruction& instruction, const Access& access,
           const LaneAddresses<std::uint64_t>& lanes) {
  const Memory& memory = *warp.memory->memory;
  AccessCache& cache = cache_of(warp, access, Window::global);
  // Asked for before the bounds: if an allocation goes in between, they are looked up again.
  const std::uint64_t generation = memory.generation();
  Memory::Extent extent;
  for (Mask rest = lanes.lanes; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::uint64_t address = address_of(lanes, lane);
    if (address >= extent.begin && address + access.width <= extent.end) continue;
    const auto why = objection(memory, access, address, access.width, &extent);
    if (why) {
      refuse(warp, instruction, lane, Fault::Kind::illegal_address,
             "invalid " + title(access, name_of(access, Window::global), address) + ": " + *why);
    }
  }
  cache.begin = extent.begin;
  cache.end = extent.end;
  cache.generation = generation;
}

void refuse_shared(const Warp& warp, const Instruction& instruction, const Access& access,
                   const LaneAddresses<std::uint32_t>& lanes) {
  const std::uint64_t bytes = warp.memory->shared_bytes;
  const int lane =
      first_lane(lanes, [&](std::uint64_t address) { return address + access.width > bytes; });
  const std::string had = bytes == 0 ? "no shared memory" : bytes_text(bytes) + " of shared memory";
  refuse(warp, instruction, lane, Fault::Kind::illegal_address,
         "invalid " + title(access, "shared", address_of(lanes, lane)) + ": the block has " + had);
}

void refuse_local(const Warp& warp, const Instruction& instruction, const Access& access,
                  const LaneAddresses<std::uint64_t>& lanes) {
  const std::uint64_t bytes = warp.memory->local_bytes;
  const int lane = first_lane(lanes, [&](std::uint64_t address) {
    return address > bytes || address + access.width > bytes;
  });
  refuse(warp, instruction, lane, Fault::Kind::illegal_address,
         "invalid " + title(access, "local", address_of(lanes, lane)) +
             ": the thread's local memory ends at " + hexadecimal(bytes));
}

void refuse_parameter(const Warp& warp, const Instruction& instruction, const Access& access,
                      const LaneAddresses<std::uint64_t>& lanes) {
  const std::uint64_t bytes = warp.memory->parameter_bytes;
  const int lane = first_lane(lanes, [&](std::uint64_t address) {
    return address > bytes || address + access.width > bytes;
  });
  refuse(warp, instruction, lane, Fault::Kind::illegal_address,
         "invalid " + title(access, "parameter", address_of(lanes, lane)) + ": the kernel has " +
             bytes_text(bytes) + " of parameters");
}

void refuse_source_size(const Warp& warp, const Instruction& instruction, int lane,
                        std::uint32_t bytes, int copied) {
  refuse(warp, instruction, lane, Fault::Kind::illegal_instruction,
         "cp.async of " + std::to_string(copied) + " bytes is to read " + std::to_string(bytes));
}

void refuse_part_of_warp(const Warp& warp, const Instruction& instruction) {
  fault(warp, instruction, warp.active, Fault::Kind::illegal_instruction,
        "ldmatrix and stmatrix need all 32 lanes of the warp");
}

void track_shared(const Warp& warp, const Instruction& instruction, const Access& access,
                  const LaneAddresses<std::uint32_t>& lanes) {
  std::byte* const written = warp.memory->shared_written;
  for (Mask rest = lanes.lanes; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::uint64_t address = address_of(lanes, lane);
    if (access.effect == AccessEffect::write) {
      std::memset(written + address, 1, access.width);
    } else if (std::memchr(written + address, 0, access.width) != nullptr) {
      refuse(warp, instruction, lane, Fault::Kind::uninitialised,
             "uninitialised " + title(access, "shared", address) +
                 ": no thread of the block has written it");
    }
  }
}

}  // namespace warpgauge::emulator::machine::memory
