// Remembers, for one memory instruction, how its last execution looked. Kernels repeat themselves:
// as long as the lanes' addresses keep their distances, cost and bounds need no new computation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/emulator/machine/core/access_totals.h"
#include "harness/emulator/machine/core/lane_addresses.h"
#include "harness/emulator/machine/core/lanes.h"

namespace warpgauge::emulator::machine::memory {

/// The counts that one execution adds to the totals.
struct AccessCost {
  std::uint32_t wavefronts = 0, wavefronts_ideal = 0;
  std::uint32_t sectors = 0, sectors_ideal = 0, tags = 0;
  std::uint32_t lane_groups = 0;
  bool exact = true;
  std::uint64_t rank = 0;  ///< metrics::shown_rank(), where accesses are recorded
};

/// How the addresses of one execution lie. Distances are from the first active lane's ("lead").
struct AccessPattern {
  Mask mask = 0;               ///< active lanes; 0: never executed
  std::uint32_t low_mask = 0;  ///< the bits of the lead that the cost depends on
  std::uint32_t low_bits = 0;  ///< those bits of the lead
  std::uint32_t hash = 0;      ///< hash of mask, low_bits and the distances
  Pattern pattern = Pattern::general;
  std::int64_t lowest = 0;  ///< lowest distance of an active lane
  std::int64_t behind = 0;  ///< highest distance, plus the bytes that a lane accesses
};

/// The lanes' distances; 0 of lanes that are off. 64 bits where addresses have 64, else 32.
union alignas(64) AccessDistances {
  std::int64_t of_64_bits[kLanes] = {};
  std::int32_t of_32_bits[kLanes];
};

/// The costs of executions whose lanes lie to each other in the same way, by
/// AccessPattern::low_bits.
class CostsByPlace {
 public:
  const AccessCost* find(std::uint32_t low_bits) const {
    const std::size_t slot = slot_of(low_bits);
    const bool is_known = (known_ >> slot & 1) != 0 && places_[slot] == low_bits;
    return is_known ? &costs_[slot] : nullptr;
  }
  void put(std::uint32_t low_bits, const AccessCost& cost) {
    const std::size_t slot = slot_of(low_bits);
    known_ |= 1u << slot;
    places_[slot] = low_bits;
    costs_[slot] = cost;
  }
  void clear() { known_ = 0; }

 private:
  static std::size_t slot_of(std::uint32_t low_bits) { return low_bits >> 5 & 3; }  // the sector

  std::uint32_t known_ = 0;  // a bit for each slot
  std::array<std::uint32_t, 4> places_{};
  std::array<AccessCost, 4> costs_;
};

/// State of one counter of one worker. The first members are those that each execution looks at.
struct alignas(64) AccessCache {
  AccessPattern now;          ///< pattern of the last execution
  std::uint64_t repeats = 0;  ///< executions that are not in the totals yet
  std::uint64_t begin = 0;    ///< the accessed allocation's
  std::uint64_t end = 0;
  std::uint64_t generation = 0;  ///< Memory's, when begin and end were true
  AccessDistances distances;     ///< those of the last execution

  AccessCost cost;               ///< cost of the last execution
  AccessTotals totals;           ///< without `repeats`
  std::uint64_t shown_rank = 0;  ///< rank of the access in the record; 0: none
  CostsByPlace places;           ///< for the present distances; global memory only
  /// Patterns of executions before, for loops over some of them; of shared memory only, where costs
  /// take long to find.
  struct Earlier {
    AccessPattern pattern;
    AccessCost cost;
  };
  static constexpr std::uint8_t kMostEarlier = 64;
  std::vector<Earlier> earlier;
  std::vector<std::array<std::int32_t, kLanes>>
      earlier_distances;           ///< for general patterns; others' are known
  std::uint8_t by_hash[128] = {};  ///< numbers in `earlier`, where those hashes were put last
  std::uint8_t oldest = 0;         ///< the oldest of `earlier`
  bool is_put_aside = false;       ///< the present pattern is among them

  void put(const LaneDistances<std::uint64_t>& all) {
    for (int lane = 0; lane < kLanes; ++lane) distances.of_64_bits[lane] = all.of[lane];
    is_put_aside = false;
  }
  void put(const LaneDistances<std::uint32_t>& all) {
    for (int lane = 0; lane < kLanes; ++lane) distances.of_32_bits[lane] = all.of[lane];
    is_put_aside = false;
  }
  /// The totals with the executions that were only counted so far.
  AccessTotals settled() const {
    AccessTotals sum = totals;
    add_repeats(sum);
    return sum;
  }
  void settle() {
    add_repeats(totals);
    repeats = 0;
  }
  bool has_executed() const { return repeats != 0 || totals.requests != 0; }
  /// All sums are 0, and the next execution is looked at as if it were the first. Earlier patterns
  /// stay. One of them that comes again adds its known cost, without a look at what kind of access
  /// it is: so its space and the reason why it is an estimate stay, too.
  void forget_executions() {
    now.mask = 0;
    repeats = 0;
    totals = {.space = totals.space, .estimate_reason = totals.estimate_reason};
    shown_rank = 0;
  }

 private:
  void add_repeats(AccessTotals& sum) const {
    sum.requests += repeats;
    sum.wavefronts += repeats * cost.wavefronts;
    sum.wavefronts_ideal += repeats * cost.wavefronts_ideal;
    sum.sectors += repeats * cost.sectors;
    sum.sectors_ideal += repeats * cost.sectors_ideal;
    sum.tags += repeats * cost.tags;
    sum.lane_groups += repeats * cost.lane_groups;
    if (!cost.exact) sum.estimates += repeats;
  }
};

}  // namespace warpgauge::emulator::machine::memory
