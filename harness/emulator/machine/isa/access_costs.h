// What an access to global or local memory costs, by the rules of
// metrics/counting/counting_rules.h, for all lanes at once where the host can. For the files of
// this folder only.
#pragma once

#include <utility>

#include "harness/emulator/machine/core/access.h"
#include "harness/emulator/machine/core/lane_addresses.h"
#include "harness/emulator/machine/isa/lanes.h"
#include "metrics/counting/counting_rules.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

/// The addresses that count: as those of an access of counted_width.
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
  // Those of the second half that the first one has, too, by turning that round.
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
    const __m512i one = _mm512_set1_epi64(1);
    return _mm512_or_si512(
        _mm512_sllv_epi64(one, _mm512_cvtepu32_epi64(_mm512_castsi512_si256(words))),
        _mm512_sllv_epi64(one, _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(words, 1))));
  };
  return static_cast<u64>(
      _mm512_reduce_or_epi64(_mm512_or_si512(half(numbers.low), half(numbers.high))));
}

WARPGAUGE_INLINE metrics::GlobalCost global_cost(const Access& access,
                                                 const LaneAddresses<u64>& lanes,
                                                 const LaneDistances<u64>& distances) {
  constexpr int kSectorBits = 5, kLineBits = 7;
  const u64 lead = lanes.addresses[__builtin_ctz(lanes.lanes)] + static_cast<u64>(lanes.offset);
  const u64 least = lead + static_cast<u64>(distances.lowest);
  const u64 start = least >> kLineBits << kLineBits;
  const u64 most = lead + static_cast<u64>(distances.highest) - start;
  if (most >> 31 != 0) return global_cost_of_any(access, lanes);
  // Counted from the first line. Lanes that are off are with the first one that is on.
  const Lines from_lead = narrowed(distances.of);
  const __m512i lead_from_start = _mm512_set1_epi32(static_cast<int>(lead - start));
  const auto units = [&](int bits) {
    const __m128i shift = _mm_cvtsi32_si128(bits);
    return Lines{_mm512_srl_epi32(_mm512_add_epi32(from_lead.low, lead_from_start), shift),
                 _mm512_srl_epi32(_mm512_add_epi32(from_lead.high, lead_from_start), shift)};
  };
  const Lines sectors = units(kSectorBits);
  metrics::GlobalCost cost;
  const Order order = order_of(sectors);
  if (order.ascends) {
    cost.sectors = 1 + static_cast<u32>(order.changes);
    cost.tags = 1 + static_cast<u32>(order_of(units(kLineBits)).changes);
  } else if (most >> kSectorBits < 64) {
    const u64 bits = bits_of(sectors), pairs = bits | bits >> 1;
    cost.sectors = static_cast<u32>(__builtin_popcountll(bits));
    cost.tags = static_cast<u32>(__builtin_popcountll((pairs | pairs >> 2) & 0x1111111111111111));
  } else {
    cost.sectors = distinct(sectors);
    cost.tags = distinct(units(kLineBits));
  }
  const u32 bytes = static_cast<u32>(__builtin_popcount(lanes.lanes)) * access.counted_width;
  cost.ideal = cost.sectors < (bytes + 31) / 32 ? cost.sectors : (bytes + 31) / 32;
  return cost;
}

WARPGAUGE_INLINE u32 local_sectors(const Access& access, const LaneAddresses<u64>& lanes,
                                   const LaneDistances<u64>& distances) {
  // Eight lanes have a sector for each word. The words of a wide access come together.
  const u32 width = access.counted_width < 4 ? 4 : access.counted_width;
  if (distances.lowest == distances.highest) return machine::lane_groups(lanes.lanes) * (width / 4);
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
