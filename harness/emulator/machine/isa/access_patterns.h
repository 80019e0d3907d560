// How the lanes' addresses lie to each other, and what is remembered of that when they lie
// otherwise than the last time. For the files of this folder only.
#pragma once

#include "harness/emulator/machine/isa/access_costs.h"
#include "harness/emulator/machine/isa/lanes.h"
#include "harness/emulator/machine/memory/access_cost.h"
#include "harness/emulator/machine/memory/access_pattern.h"
#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

/// A loop over the lanes that are on, in ascending order.
template <typename Function>
WARPGAUGE_INLINE void for_lanes(Mask lanes, Function function) {
  if (lanes == kAllLanes) {
    for (int lane = 0; lane < kLanes; ++lane) function(lane);
  } else {
    for (Mask rest = lanes; rest != 0; rest &= rest - 1) function(__builtin_ctz(rest));
  }
}

/// True if addresses[l] - lead is distances[l] for all lanes that are on.
template <typename Address, typename Distance>
WARPGAUGE_INLINE bool same_distances(const Address* addresses, Address lead,
                                     const Distance* distances, Mask lanes) {
#if defined(__AVX512F__)
  constexpr int kPart = 64 / sizeof(Address);  // lanes
  const __m512i base = sizeof(Address) == 4 ? _mm512_set1_epi32(static_cast<int>(lead))
                                            : _mm512_set1_epi64(static_cast<long long>(lead));
  Mask differs = 0;
  for (int i = 0; i < kLanes; i += kPart) {
    const __m512i address = _mm512_load_si512(addresses + i);
    const __m512i known = _mm512_load_si512(distances + i);
    const Mask part = sizeof(Address) == 4
                          ? _mm512_cmpneq_epi32_mask(_mm512_sub_epi32(address, base), known)
                          : _mm512_cmpneq_epi64_mask(_mm512_sub_epi64(address, base), known);
    differs |= part << i;
  }
  return (differs & lanes) == 0;
#else
  Address differs = 0;
  for_lanes(lanes, [&](int lane) {
    differs |= static_cast<Address>(addresses[lane] - lead) ^ static_cast<Address>(distances[lane]);
  });
  return differs == 0;
#endif
}

/// Bytes from a lane to the next one that part their lines of the cache wherever they begin.
inline constexpr s64 kLineBytes = 128;

template <typename Address>
WARPGAUGE_INLINE LaneDistances<Address> distances_of(const LaneAddresses<Address>& lanes,
                                                     int width) {
  using Signed = typename LaneDistances<Address>::Signed;
  LaneDistances<Address> result;
  const int lead_lane = __builtin_ctz(lanes.lanes);
  const Address lead = lanes.addresses[lead_lane];
  const Address offset = static_cast<Address>(lanes.offset);
  // Lanes that are off are where they spoil nothing: with the first one, or where a contiguous
  // access would have them.
  alignas(64) Address packed[kLanes], expected[kLanes], leads[kLanes], spread[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    leads[lane] = lead;
    expected[lane] = lead + static_cast<Address>((lane - lead_lane) * width);
  }
  select_lanes<Address>(packed, lanes.lanes, lanes.addresses, leads);
  select_lanes<Address>(spread, lanes.lanes, lanes.addresses, expected);
  Signed lowest = 0, highest = 0;
  Address low_bits = 0, steps = 0, gaps = 0;
  u32 hash = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    const Signed distance = static_cast<Signed>(packed[lane] - lead);
    result.of[lane] = distance;
    lowest = distance < lowest ? distance : lowest;
    highest = distance > highest ? distance : highest;
    low_bits |= packed[lane] + offset;
    steps |= static_cast<Address>(distance);
    if constexpr (sizeof(Address) == 4) {  // others are not looked for
      hash += static_cast<u32>(distance) * (static_cast<u32>(lane) * 0x9e3779b2u + 0x85ebca6bu);
    }
    gaps |= spread[lane] ^ expected[lane];
  }
  bool near = true;
  if constexpr (sizeof(Address) == 8) {  // of shared memory it decides nothing
    near = false;
    for (int lane = 1; lane < kLanes; ++lane) {
      const Signed step = result.of[lane] - result.of[lane - 1];
      near |= step != 0 && step < kLineBytes;
    }
  }
  result.lowest = lowest;
  result.highest = highest;
  result.low_bits = low_bits;
  result.steps = steps;
  result.hash = hash;
  result.contiguous = gaps == 0;
  result.apart = !near;
  return result;
}

/// The distances of lanes that are all at one address.
alignas(64) constexpr u64 kNoDistances[kLanes] = {};

#if defined(WARPGAUGE_ISA_avx512)
WARPGAUGE_INLINE LaneDistances<u64> no_distances(const LaneAddresses<u64>& lanes) {
  LaneDistances<u64> result;
  for (int lane = 0; lane < kLanes; ++lane) result.of[lane] = 0;
  result.low_bits = lanes.addresses[__builtin_ctz(lanes.lanes)] + static_cast<u64>(lanes.offset);
  result.contiguous = (lanes.lanes & (lanes.lanes - 1)) == 0;
  result.apart = true;
  return result;
}
WARPGAUGE_INLINE LaneDistances<u64> distances_of(const LaneAddresses<u64>& lanes, int width) {
  if (same_distances(lanes.addresses, lanes.addresses[__builtin_ctz(lanes.lanes)], kNoDistances,
                     lanes.lanes)) {
    return no_distances(lanes);
  }
  LaneDistances<u64> result;
  const int lead_lane = __builtin_ctz(lanes.lanes);
  const auto all = [](u64 value) { return _mm512_set1_epi64(static_cast<s64>(value)); };
  const __m512i lead = all(lanes.addresses[lead_lane]),
                offset = all(static_cast<u64>(lanes.offset));
  const u64 step = static_cast<u64>(width);
  __m512i expected = _mm512_mullo_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), all(step));
  expected = _mm512_sub_epi64(expected, all(static_cast<u64>(lead_lane) * step));
  const __m512i zero = _mm512_setzero_si512();
  __m512i lowest = zero, highest = zero, bits = zero, steps = zero, before = zero;
  unsigned gaps = 0, near = 0;
  for (int lane = 0; lane < kLanes; lane += 8) {
    const __mmask8 on = static_cast<__mmask8>(lanes.lanes >> lane);
    const __m512i addresses = _mm512_mask_load_epi64(lead, on, lanes.addresses + lane);
    const __m512i distance = _mm512_sub_epi64(addresses, lead);
    _mm512_store_si512(result.of + lane, distance);
    lowest = _mm512_min_epi64(lowest, distance);
    highest = _mm512_max_epi64(highest, distance);
    bits = _mm512_or_si512(bits, _mm512_add_epi64(addresses, offset));
    steps = _mm512_or_si512(steps, distance);
    gaps |= _mm512_mask_cmpneq_epi64_mask(on, distance, expected);
    expected = _mm512_add_epi64(expected, all(8 * step));
    // The first lane's is 0 away from what stands before it.
    const __m512i from_last = _mm512_sub_epi64(distance, _mm512_alignr_epi64(distance, before, 7));
    near |= _mm512_mask_cmplt_epi64_mask(_mm512_test_epi64_mask(from_last, from_last), from_last,
                                         all(kLineBytes));
    before = distance;
  }
  result.lowest = _mm512_reduce_min_epi64(lowest);
  result.highest = _mm512_reduce_max_epi64(highest);
  result.low_bits = static_cast<u64>(_mm512_reduce_or_epi64(bits));
  result.steps = static_cast<u64>(_mm512_reduce_or_epi64(steps));
  result.contiguous = gaps == 0;
  result.apart = near == 0;
  return result;
}
#endif

// Addresses lie otherwise than the last time.
[[gnu::noinline, maybe_unused]] void remember_shared(const Warp& warp,
                                                     const Instruction& instruction,
                                                     const Access& access,
                                                     const LaneAddresses<u32>& lanes) {
  memory::remember_shared(warp, instruction, access, lanes, distances_of(lanes, access.width));
}
/// Counts an execution whose lanes lie to each other as in the last one, if it is known what that
/// costs at this address.
WARPGAUGE_INLINE bool recall_place(memory::AccessCache& cache, const LaneAddresses<u64>& lanes) {
  const u64 lead = lanes.addresses[__builtin_ctz(lanes.lanes)];
  const u32 low_bits = static_cast<u32>(lead + static_cast<u64>(lanes.offset)) & cache.now.low_mask;
  if (cache.now.mask != lanes.lanes || cache.now.low_bits == low_bits ||
      !same_distances(lanes.addresses, lead, cache.distances.of_64_bits, lanes.lanes)) {
    cache.places.clear();
    return false;
  }
  const memory::AccessCost* const cost = cache.places.find(low_bits);
  if (cost == nullptr) return false;
  cache.settle();
  cache.repeats = 1;
  cache.cost = *cost;
  cache.now.low_bits = low_bits;
  return true;
}
[[gnu::noinline, maybe_unused]] void remember_global(const Warp& warp,
                                                     const Instruction& instruction,
                                                     const Access& access,
                                                     const LaneAddresses<u64>& lanes) {
  memory::AccessCache& cache = warp.memory->caches[access.counters[0]];
  if (!recall_place(cache, lanes)) {
    const LaneDistances<u64> distances = distances_of(lanes, access.width);
    memory::remember_pattern(warp, instruction, access, Window::global, lanes, distances);
    memory::keep_what_matters(cache.now, access, distances);
    if (!access.counts) return;
    memory::put(cache, access, global_cost(access, lanes, distances), lanes.lanes);
    cache.places.put(cache.now.low_bits, cache.cost);
  }
  if (cache.cost.rank >= cache.shown_rank) memory::record_global(warp, access, lanes);
}
[[gnu::noinline, maybe_unused]] void remember_local(const Warp& warp,
                                                    const Instruction& instruction,
                                                    const Access& access,
                                                    const LaneAddresses<u64>& lanes) {
  const LaneDistances<u64> distances = distances_of(lanes, access.width);
  memory::AccessCache& cache =
      memory::remember_pattern(warp, instruction, access, Window::local, lanes, distances);
  if (!access.counts) return;
  memory::put_local(cache, local_sectors(access, lanes, distances), lanes.lanes);
}

}  // namespace
}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
