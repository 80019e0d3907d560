// The rare half of a memory access: its addresses lie otherwise than the last time. The frequent
// half is in isa/memory_lanes.h.
#pragma once

#include <cstdint>

#include "harness/emulator/machine/core/access_details.h"
#include "harness/emulator/machine/core/lane_addresses.h"
#include "harness/emulator/machine/core/warp.h"
#include "harness/emulator/machine/memory/access_cache.h"
#include "harness/emulator/machine/memory/access_faults.h"
#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::memory {

/// Puts down how the addresses of an execution lie.
template <typename Address>
[[gnu::always_inline]] inline void describe(AccessPattern& pattern, const Access& access,
                                            Window window, const LaneAddresses<Address>& lanes,
                                            const LaneDistances<Address>& distances) {
  const Address lead = lanes.addresses[__builtin_ctz(lanes.lanes)];
  pattern.mask = lanes.lanes;
  pattern.low_mask = access.low_mask[static_cast<int>(window)];
  pattern.low_bits =
      static_cast<std::uint32_t>(lead + static_cast<Address>(lanes.offset)) & pattern.low_mask;
  // A single lane is both. Contiguous is the one that works in the same way for all.
  const bool is_uniform = distances.lowest == 0 && distances.highest == 0;
  const Pattern uneven = is_uniform ? Pattern::uniform : Pattern::general;
  pattern.pattern = distances.contiguous ? Pattern::contiguous : uneven;
  constexpr std::uint32_t kOdd = 0x9e3779b1;
  pattern.hash = (distances.hash ^ pattern.mask * kOdd ^ pattern.low_bits << 7) * kOdd >> 8;
  pattern.lowest = distances.lowest;
  pattern.behind = static_cast<std::int64_t>(
      static_cast<std::uint64_t>(std::int64_t{distances.highest}) + access.used_to);
}

/// Only the numbers of sectors and lines count. So bits of the addresses below those in which they
/// differ do not matter, and none does if each lane has a line of its own; but for the alignment.
[[gnu::always_inline]] inline void keep_what_matters(
    AccessPattern& pattern, const Access& access, const LaneDistances<std::uint64_t>& distances) {
  const auto steps = distances.apart ? 0 : static_cast<std::uint32_t>(distances.steps);
  const std::uint32_t in_common = (steps & (~steps + 1)) - 1;  // all of them, if there is no step
  pattern.low_mask &= ~in_common | (access.width - 1u);
  pattern.low_bits &= pattern.low_mask;
}

/// Throws the fault if a lane is misaligned.
template <typename Address>
[[gnu::always_inline]] inline void check_alignment(const Warp& warp, const Instruction& instruction,
                                                   const Access& access, Window window,
                                                   const LaneAddresses<Address>& lanes,
                                                   const LaneDistances<Address>& distances) {
  if ((distances.low_bits & (access.width - 1u)) != 0) [[unlikely]] {
    refuse_misaligned(warp, instruction, access, window, lanes);
  }
}

inline AccessCache& cache_of(const Warp& warp, const Access& access, Window window) {
  return warp.memory->caches[access.counters[static_cast<std::size_t>(window)]];
}

/// Puts one execution, whose addresses lie otherwise than those before, into the cache of the
/// access; its cost is to be put there, too.
template <typename Address>
[[gnu::always_inline]] inline AccessCache& remember_pattern(
    const Warp& warp, const Instruction& instruction, const Access& access, Window window,
    const LaneAddresses<Address>& lanes, const LaneDistances<Address>& distances) {
  check_alignment(warp, instruction, access, window, lanes, distances);
  AccessCache& cache = cache_of(warp, access, window);
  cache.settle();
  cache.repeats = 1;
  describe(cache.now, access, window, lanes, distances);
  cache.put(distances);
  return cache;
}

/// Keeps the present pattern of an access to shared memory, if there is one, for when it comes
/// again.
void put_aside(AccessCache& cache);

/// Bring the access's cache up to date and count one execution. They fault if a lane is misaligned.
/// The cost of an access to shared memory is remembered, too; the cost of others is quickly found
/// (see isa/access_patterns.h).
void remember_shared(const Warp& warp, const Instruction& instruction, const Access& access,
                     const LaneAddresses<std::uint32_t>& lanes,
                     const LaneDistances<std::uint32_t>& distances);
/// cp.async: both sides at once, for their costs depend on each other. Lanes that read nothing are
/// not in `from`, which is not empty.
void remember_copy(const Warp& warp, const Instruction& instruction, const CopyDetail& copy,
                   const LaneAddresses<std::uint32_t>& to,
                   const LaneDistances<std::uint32_t>& to_distances,
                   const LaneAddresses<std::uint64_t>& from,
                   const LaneDistances<std::uint64_t>& from_distances);

/// cp.async of which no lane reads: all write zeros, and the request counts all the same.
void remember_zeros(const Warp& warp, const Instruction& instruction, const CopyDetail& copy,
                    const LaneAddresses<std::uint32_t>& to,
                    const LaneDistances<std::uint32_t>& distances);

/// Shows an access to global memory that was counted just now to the recorder, if it ranks as high
/// as the one that is kept.
void record_global(const Warp& warp, const Access& access,
                   const LaneAddresses<std::uint64_t>& lanes);

}  // namespace warpgauge::emulator::machine::memory
