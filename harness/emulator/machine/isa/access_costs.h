// What an access to global or local memory costs, by the rules of metrics/counting_rules.h, for all
// lanes at once where the host can. For the files of this folder only.
#pragma once

#include <array>
#include <bit>

#include "harness/emulator/machine/isa/lanes.h"
#include "harness/emulator/machine/memory/access.h"
#include "harness/emulator/machine/memory/lane_addresses.h"
#include "metrics/counting_rules.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

/// Addresses that count: as those of an access of counted_width.
template <typename Address>
WARPGAUGE_INLINE std::array<Address, kLanes> counted_addresses(
    const memory::Access& access, const memory::LaneAddresses<u64>& lanes) {
  std::array<Address, kLanes> counted;
  for (int lane = 0; lane < kLanes; ++lane) {
    counted[static_cast<std::size_t>(lane)] =
        static_cast<Address>(memory::address_of(lanes, lane) & ~(u64{access.counted_width} - 1));
  }
  return counted;
}

[[maybe_unused]] metrics::GlobalCost global_cost_of_any(const memory::Access& access,
                                                        const memory::LaneAddresses<u64>& lanes) {
  return metrics::global_cost(access.counted_width, counted_addresses<u64>(access, lanes).data(),
                              lanes.lanes);
}

#if defined(WARPGAUGE_ISA_avx512)

/// Sectors of the lanes, 32 bits each, counted from one that is at the start of a cache line and
/// not above any. Lanes that are off have that of a lane that is on.
struct Sectors {
  __m512i low, high;
  u64 most;  ///< may need more bits: then the others are of no use
};

WARPGAUGE_INLINE Sectors sectors_of(const memory::Access& access,
                                    const memory::LaneAddresses<u64>& lanes) {
  constexpr int kSectorBits = 5;
  const s64 offset = lanes.offset;
  const __m512i kept = _mm512_set1_epi64(-static_cast<s64>(access.counted_width));
  const u64 lead = lanes.addresses[__builtin_ctz(lanes.lanes)];
  __m512i sectors[4];
  for (int n = 0; n < 4; ++n) {
    const __m512i addresses = _mm512_mask_loadu_epi64(_mm512_set1_epi64(static_cast<s64>(lead)),
                                                      static_cast<__mmask8>(lanes.lanes >> 8 * n),
                                                      lanes.addresses + 8 * n);
    const __m512i counted =
        _mm512_and_si512(_mm512_add_epi64(addresses, _mm512_set1_epi64(offset)), kept);
    sectors[n] = _mm512_srli_epi64(counted, kSectorBits);
  }
  const auto all = [&](auto combine) {
    return combine(combine(sectors[0], sectors[1]), combine(sectors[2], sectors[3]));
  };
  const u64 least =
      _mm512_reduce_min_epu64(all([](__m512i a, __m512i b) { return _mm512_min_epu64(a, b); }));
  const u64 most =
      _mm512_reduce_max_epu64(all([](__m512i a, __m512i b) { return _mm512_max_epu64(a, b); }));
  const u64 first = least & ~u64{3};
  const auto narrow = [&](int n) {
    const __m512i start = _mm512_set1_epi64(static_cast<s64>(first));
    return _mm512_inserti64x4(
        _mm512_castsi256_si512(_mm512_cvtepi64_epi32(_mm512_sub_epi64(sectors[n], start))),
        _mm512_cvtepi64_epi32(_mm512_sub_epi64(sectors[n + 1], start)), 1);
  };
  return {narrow(0), narrow(2), most - first};
}

/// How many different values there are.
WARPGAUGE_INLINE u32 distinct(__m512i low, __m512i high) {
  const __m512i ones = _mm512_set1_epi32(-1);
  const __mmask16 first = _mm512_testn_epi32_mask(_mm512_conflict_epi32(low), ones);
  __mmask16 second = _mm512_testn_epi32_mask(_mm512_conflict_epi32(high), ones);
  __m512i turned = low;
  for (int n = 0; n < 16; ++n) {
    second &= _mm512_cmpneq_epi32_mask(high, turned);
    turned = _mm512_alignr_epi32(turned, turned, 1);
  }
  return static_cast<u32>(__builtin_popcount(first) + __builtin_popcount(second));
}

WARPGAUGE_INLINE metrics::GlobalCost global_cost(const memory::Access& access,
                                                 const memory::LaneAddresses<u64>& lanes) {
  const Sectors all = sectors_of(access, lanes);
  metrics::GlobalCost cost;
  if (all.most < 64) {
    const auto bits_of = [](__m512i sectors) {
      const __m512i one = _mm512_set1_epi64(1);
      return _mm512_or_si512(
          _mm512_sllv_epi64(one, _mm512_cvtepu32_epi64(_mm512_castsi512_si256(sectors))),
          _mm512_sllv_epi64(one, _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(sectors, 1))));
    };
    const u64 bits = static_cast<u64>(
        _mm512_reduce_or_epi64(_mm512_or_si512(bits_of(all.low), bits_of(all.high))));
    const u64 pairs = bits | bits >> 1;
    cost.sectors = static_cast<u32>(__builtin_popcountll(bits));
    cost.tags = static_cast<u32>(__builtin_popcountll((pairs | pairs >> 2) & 0x1111111111111111));
  } else if (all.most <= 0xffffffff) {
    cost.sectors = distinct(all.low, all.high);
    cost.tags = distinct(_mm512_srli_epi32(all.low, 2), _mm512_srli_epi32(all.high, 2));
  } else {
    return global_cost_of_any(access, lanes);
  }
  const u32 bytes = static_cast<u32>(__builtin_popcount(lanes.lanes)) * access.counted_width;
  cost.ideal = cost.sectors < (bytes + 31) / 32 ? cost.sectors : (bytes + 31) / 32;
  return cost;
}

WARPGAUGE_INLINE u32 local_sectors(const memory::Access& access,
                                   const memory::LaneAddresses<u64>& lanes) {
  // Eight lanes have a sector for each word. The words of a wide access come together.
  const u32 width = access.counted_width < 4 ? 4 : access.counted_width;
  const __m512i offset = _mm512_set1_epi32(static_cast<int>(lanes.offset));
  const __m512i kept = _mm512_set1_epi32(-static_cast<int>(width));
  const __m512i before = _mm512_inserti64x4(_mm512_set1_epi32(0xff), _mm256_set1_epi32(0xff00), 1);
  u32 count = 0;
  for (int n = 0; n < kLanes; n += 16) {
    const __mmask16 on = static_cast<__mmask16>(lanes.lanes >> n);
    const __m512i offsets = _mm512_inserti64x4(
        _mm512_castsi256_si512(_mm512_cvtepi64_epi32(_mm512_load_si512(lanes.addresses + n))),
        _mm512_cvtepi64_epi32(_mm512_load_si512(lanes.addresses + n + 8)), 1);
    const __m512i words = _mm512_and_si512(_mm512_add_epi32(offsets, offset), kept);
    const __m512i rivals = _mm512_and_si512(before, _mm512_set1_epi32(on));
    const __mmask16 first = _mm512_mask_testn_epi32_mask(on, _mm512_conflict_epi32(words), rivals);
    count += static_cast<u32>(__builtin_popcount(first));
  }
  return count * (width / 4);
}

#else

WARPGAUGE_INLINE metrics::GlobalCost global_cost(const memory::Access& access,
                                                 const memory::LaneAddresses<u64>& lanes) {
  return global_cost_of_any(access, lanes);
}

WARPGAUGE_INLINE u32 local_sectors(const memory::Access& access,
                                   const memory::LaneAddresses<u64>& lanes) {
  return metrics::local_sectors(access.counted_width, counted_addresses<u32>(access, lanes).data(),
                                lanes.lanes);
}

#endif

}  // namespace
}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
