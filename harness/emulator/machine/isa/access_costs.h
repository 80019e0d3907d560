// The costs of accesses to global and local memory, by metrics/counting/sector_rules.h: the units
// that the lanes touch are counted for all lanes at once where the host can. For the files of this
// folder only.
#pragma once

#include <utility>

#include "harness/emulator/machine/core/access.h"
#include "harness/emulator/machine/core/lane_addresses.h"
#include "harness/emulator/machine/isa/lanes.h"
#include "metrics/counting/counting_rules.h"
#include "metrics/counting/sector_rules.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

/// The addresses that count: each rounded down to a multiple of counted_width.
template <typename Address>
WARPGAUGE_INLINE void count_addresses(const Access& access, const LaneAddresses<u64>& lanes,
                                      Address* counted) {
  const u64 kept = ~(u64{access.counted_width} - 1);
  for (int lane = 0; lane < kLanes; ++lane) {
    counted[lane] =
        static_cast<Address>((lanes.addresses[lane] + static_cast<u64>(lanes.offset)) & kept);
  }
}

[[maybe_unused]] metrics::GlobalCost global_cost_of_any(const Access& access,
                                                        const LaneAddresses<u64>& lanes) {
  u64 counted[kLanes];
  count_addresses(access, lanes, counted);
  return metrics::global_cost(access.counted_width, counted, lanes.lanes);
}

#if defined(WARPGAUGE_ISA_avx512)

/// Words of 32 lanes, 16 each.
struct Lines {
  __m512i low, high;
};

WARPGAUGE_INLINE Lines narrowed(const s64* values) {
  const auto half = [=](int lane) {
    return _mm512_inserti64x4(
        _mm512_castsi256_si512(_mm512_cvtepi64_epi32(_mm512_load_si512(values + lane))),
        _mm512_cvtepi64_epi32(_mm512_load_si512(values + lane + 8)), 1);
  };
  return {half(0), half(16)};
}

/// True if no lane's value is below that of the lane before; then `changes` are the lanes, but for
/// the first, whose value is another one.
struct Order {
  bool ascends;
  int changes;
};
WARPGAUGE_INLINE Order order_of(const Lines& values) {
  const __m512i low_before = _mm512_alignr_epi32(values.low, values.low, 15);
  const __m512i high_before = _mm512_alignr_epi32(values.high, values.low, 15);
  constexpr __mmask16 kButFirst = 0xfffe;
  const unsigned below = (_mm512_cmplt_epu32_mask(values.low, low_before) & kButFirst) |
                         _mm512_cmplt_epu32_mask(values.high, high_before);
  return {below == 0,
          __builtin_popcount(_mm512_cmpneq_epi32_mask(values.low, low_before) & kButFirst) +
              __builtin_popcount(_mm512_cmpneq_epi32_mask(values.high, high_before))};
}

/// How many different values there are.
WARPGAUGE_INLINE u32 distinct(const Lines& values) {
  const __m512i ones = _mm512_set1_epi32(-1);
  const __mmask16 first = _mm512_testn_epi32_mask(_mm512_conflict_epi32(values.low), ones);
  const __mmask16 second = _mm512_testn_epi32_mask(_mm512_conflict_epi32(values.high), ones);
  // The values of the second half that the first half has, too: it is compared with the first half
  // turned round by each number of lanes.
  const auto in_turned = [&]<int... kBy>(std::integer_sequence<int, kBy...>) {
    return (... |
            _mm512_cmpeq_epi32_mask(values.high, _mm512_alignr_epi32(values.low, values.low, kBy)));
  };
  const unsigned known = static_cast<unsigned>(in_turned(std::make_integer_sequence<int, 16>()));
  return static_cast<u32>(__builtin_popcount(first) + __builtin_popcount(second & ~known));
}

/// The bits with these numbers, below 64.
WARPGAUGE_INLINE u64 bits_of(const Lines& numbers) {
  const auto half = [](__m512i words) {
    const __m512i unit = _mm512_set1_epi64(1);
    return _mm512_or_si512(
        _mm512_sllv_epi64(unit, _mm512_cvtepu32_epi64(_mm512_castsi512_si256(words))),
        _mm512_sllv_epi64(unit, _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(words, 1))));
  };
  return static_cast<u64>(
      _mm512_reduce_or_epi64(_mm512_or_si512(half(numbers.low), half(numbers.high))));
}

WARPGAUGE_INLINE metrics::GlobalCost global_cost(const Access& access,
                                                 const LaneAddresses<u64>& lanes,
                                                 const LaneDistances<u64>& distances) {
  constexpr int kStartBits = metrics::kLineBits;
  const u64 lead = lanes.addresses[__builtin_ctz(lanes.lanes)] + static_cast<u64>(lanes.offset);
  const u64 least = lead + static_cast<u64>(distances.lowest);
  const u64 start = least >> kStartBits << kStartBits;
  const u64 most = lead + static_cast<u64>(distances.highest) - start;
  if (most >> 31 != 0) return global_cost_of_any(access, lanes);
  // Counted from the start. Lanes that are off are with the first one that is on.
  const Lines from_lead = narrowed(distances.of);
  const __m512i lead_from_start = _mm512_set1_epi32(static_cast<int>(lead - start));
  const Lines from_start = {_mm512_add_epi32(from_lead.low, lead_from_start),
                            _mm512_add_epi32(from_lead.high, lead_from_start)};
  const auto units = [&](int bits) {
    const __m128i shift = _mm_cvtsi32_si128(bits);
    return Lines{_mm512_srl_epi32(from_start.low, shift), _mm512_srl_epi32(from_start.high, shift)};
  };
  const u32 count = static_cast<u32>(__builtin_popcount(lanes.lanes));
  return metrics::global_cost_of_units<metrics::GlobalCost>(
      access.counted_width, count, [&](int fine_bits, int coarse_bits) -> metrics::UnitCounts {
        const Lines fine = units(fine_bits), coarse = units(coarse_bits);
        const Order order = order_of(fine);
        if (order.ascends) {
          return {1 + static_cast<u32>(order.changes),
                  1 + static_cast<u32>(order_of(coarse).changes)};
        }
        if (most >> fine_bits < 64) {
          return {static_cast<u32>(__builtin_popcountll(bits_of(fine))),
                  static_cast<u32>(__builtin_popcountll(bits_of(coarse)))};
        }
        return {distinct(fine), distinct(coarse)};
      });
}

WARPGAUGE_INLINE u32 local_sectors(const Access& access, const LaneAddresses<u64>& lanes,
                                   const LaneDistances<u64>& distances) {
  return metrics::local_sectors_of_units(access.counted_width, [&](int bytes) {
    if (distances.lowest == distances.highest) return machine::lane_groups(lanes.lanes);
    const __m512i offset = _mm512_set1_epi32(static_cast<int>(lanes.offset));
    const __m512i kept = _mm512_set1_epi32(-bytes);
    // The lanes before that are among the same eight.
    const __m512i before =
        _mm512_inserti64x4(_mm512_set1_epi32(0xff), _mm256_set1_epi32(0xff00), 1);
    u32 count = 0;
    for (int n = 0; n < kLanes; n += 16) {
      const __mmask16 on = static_cast<__mmask16>(lanes.lanes >> n);
      const __m512i offsets = _mm512_inserti64x4(
          _mm512_castsi256_si512(_mm512_cvtepi64_epi32(_mm512_load_si512(lanes.addresses + n))),
          _mm512_cvtepi64_epi32(_mm512_load_si512(lanes.addresses + n + 8)), 1);
      const __m512i units = _mm512_and_si512(_mm512_add_epi32(offsets, offset), kept);
      const __m512i rivals = _mm512_and_si512(before, _mm512_set1_epi32(on));
      const __mmask16 first =
          _mm512_mask_testn_epi32_mask(on, _mm512_conflict_epi32(units), rivals);
      count += static_cast<u32>(__builtin_popcount(first));
    }
    return count;
  });
}

#else

WARPGAUGE_INLINE metrics::GlobalCost global_cost(const Access& access,
                                                 const LaneAddresses<u64>& lanes,
                                                 const LaneDistances<u64>&) {
  return global_cost_of_any(access, lanes);
}

WARPGAUGE_INLINE u32 local_sectors(const Access& access, const LaneAddresses<u64>& lanes,
                                   const LaneDistances<u64>&) {
  u32 counted[kLanes];
  count_addresses(access, lanes, counted);
  return metrics::local_sectors(access.counted_width, counted, lanes.lanes);
}

#endif

}  // namespace
}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
