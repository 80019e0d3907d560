// Patterns of memory accesses that were not seen before.
#include "harness/emulator/machine/memory/access_pattern.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include "harness/emulator/machine/memory/access_cost.h"
#include "harness/emulator/machine/memory/access_record.h"
#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::memory {
namespace {

std::uint8_t& number_of(AccessCache& cache, const AccessPattern& pattern) {
  return cache.by_hash[pattern.hash % std::size(cache.by_hash)];
}

}  // namespace

void put_aside(AccessCache& cache) {
  if (cache.now.mask == 0 || cache.is_put_aside) return;
  cache.is_put_aside = true;
  std::uint8_t& number = number_of(cache, cache.now);
  if (cache.earlier.empty()) {  // most have a few
    cache.earlier.reserve(AccessCache::kMostEarlier / 8);
    cache.earlier_distances.reserve(AccessCache::kMostEarlier / 8);
  }
  if (cache.earlier.size() < AccessCache::kMostEarlier) {
    number = static_cast<std::uint8_t>(cache.earlier.size());
    cache.earlier.push_back({cache.now, cache.cost});
  } else {
    number = cache.oldest;
    cache.oldest = (cache.oldest + 1) % AccessCache::kMostEarlier;
    cache.earlier[number] = {cache.now, cache.cost};
  }
  if (cache.now.pattern != Pattern::general) return;
  if (cache.earlier_distances.size() <= number) cache.earlier_distances.resize(number + 1u);
  std::copy_n(cache.distances.of_32_bits, kLanes, cache.earlier_distances[number].begin());
}

namespace {

/// Makes an earlier pattern the present one, if there is one that is the same.
bool recall(AccessCache& cache, const AccessPattern& wanted,
            const LaneDistances<std::uint32_t>& distances) {
  if (cache.earlier.empty()) return false;
  const std::uint8_t number = number_of(cache, wanted);
  const AccessCache::Earlier& earlier = cache.earlier[number];
  if (earlier.pattern.hash != wanted.hash || earlier.pattern.mask != wanted.mask ||
      earlier.pattern.low_bits != wanted.low_bits || earlier.pattern.pattern != wanted.pattern) {
    return false;
  }
  if (wanted.pattern == Pattern::general && std::memcmp(cache.earlier_distances[number].data(),
                                                        distances.of, sizeof(distances.of)) != 0) {
    return false;
  }
  cache.now = earlier.pattern;
  cache.cost = earlier.cost;
  cache.put(distances);
  cache.is_put_aside = true;
  return true;
}

/// The addresses that count: each rounded down to a multiple of counted_width.
template <typename Counted, typename Address>
std::array<Counted, kLanes> counted(const Access& access, const LaneAddresses<Address>& lanes) {
  std::array<Counted, kLanes> result;
  const std::uint64_t low = access.counted_width - 1u;
  for (int lane = 0; lane < kLanes; ++lane) {
    result[static_cast<std::size_t>(lane)] = static_cast<Counted>(address_of(lanes, lane) & ~low);
  }
  return result;
}

/// Shows an access that was counted just now to the recorder. As long as an earlier warp of the
/// same block could take the place of what is recorded, the cache is made to forget how the access
/// lay, so that the next one is looked at even if it lies the same.
template <typename Counted, typename Address>
void record(const Warp& warp, const Access& access, Window window,
            const LaneAddresses<Address>& lanes) {
  if (!access.counts) return;
  AccessCache& cache = cache_of(warp, access, window);
  if (cache.cost.rank < cache.shown_rank) return;
  metrics::WarpAccess& kept =
      warp.memory->records[access.counters[static_cast<std::size_t>(window)]];
  if (cache.cost.rank > cache.shown_rank || was_before(warp, kept)) {
    kept = recorded(warp, cache, access, counted<Counted>(access, lanes), lanes.lanes);
    cache.shown_rank = cache.cost.rank;
  }
  if (kept.block_number != warp.block || kept.warp == 0) return;
  if (window == Window::shared) put_aside(cache);
  cache.now.mask = 0;
}

}  // namespace

void remember_shared(const Warp& warp, const Instruction& instruction, const Access& access,
                     const LaneAddresses<std::uint32_t>& lanes,
                     const LaneDistances<std::uint32_t>& distances) {
  check_alignment(warp, instruction, access, Window::shared, lanes, distances);
  AccessCache& cache = cache_of(warp, access, Window::shared);
  AccessPattern pattern;
  describe(pattern, access, Window::shared, lanes, distances);
  cache.settle();
  cache.repeats = 1;
  put_aside(cache);
  if (!recall(cache, pattern, distances)) {
    cache.now = pattern;
    cache.put(distances);
    if (access.counts) {
      count_shared(cache, access, counted<std::uint32_t>(access, lanes), lanes.lanes);
    }
  }
  record<std::uint32_t>(warp, access, Window::shared, lanes);
}

void remember_copy(const Warp& warp, const Instruction& instruction, const CopyDetail& copy,
                   const LaneAddresses<std::uint32_t>& to,
                   const LaneDistances<std::uint32_t>& to_distances,
                   const LaneAddresses<std::uint64_t>& from,
                   const LaneDistances<std::uint64_t>& from_distances) {
  // The cost of each side depends on both, so neither may be recalled by itself.
  remember_pattern(warp, instruction, copy.to, Window::shared, to, to_distances);
  remember_pattern(warp, instruction, copy.from, Window::global, from, from_distances);
  if (!copy.to.counts) return;
  count_copy(cache_of(warp, copy.to, Window::shared), cache_of(warp, copy.from, Window::global),
             copy, counted<std::uint32_t>(copy.to, to), counted<std::uint64_t>(copy.from, from),
             to.lanes, from.lanes);
  record<std::uint32_t>(warp, copy.to, Window::shared, to);
  record<std::uint64_t>(warp, copy.from, Window::global, from);
}

void remember_zeros(const Warp& warp, const Instruction& instruction, const CopyDetail& copy,
                    const LaneAddresses<std::uint32_t>& to,
                    const LaneDistances<std::uint32_t>& distances) {
  remember_pattern(warp, instruction, copy.to, Window::shared, to, distances);
  AccessCache& global = cache_of(warp, copy.from, Window::global);
  global.settle();
  global.now.mask = 0;
  if (!copy.to.counts) return;
  count_copy(cache_of(warp, copy.to, Window::shared), global, copy,
             counted<std::uint32_t>(copy.to, to), {}, to.lanes, 0);
  global.repeats = 1;
  record<std::uint32_t>(warp, copy.to, Window::shared, to);
}

void record_global(const Warp& warp, const Access& access,
                   const LaneAddresses<std::uint64_t>& lanes) {
  record<std::uint64_t>(warp, access, Window::global, lanes);
}

}  // namespace warpgauge::emulator::machine::memory
