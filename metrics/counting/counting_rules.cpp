// Implements the counting rules with tables and bit counters on the stack.
#include "metrics/counting/counting_rules.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <span>

#include "metrics/counting/access_copy.h"
#include "metrics/counting/access_lanes.h"
#include "metrics/counting/sector_rules.h"

namespace warpgauge::metrics {
namespace {

/// Counters of the 32 banks, each up to 63. Bit b of plane i is bit i of the counter of bank b.
class BankCounters {
 public:
  void add(std::uint32_t banks) {
    for (std::size_t i = 0; banks != 0; ++i) {
      const std::uint32_t carry = planes_[i] & banks;
      planes_[i] ^= banks;
      banks = carry;
    }
  }
  std::uint32_t highest() const {
    std::uint32_t banks = kAllLanes;
    std::uint32_t value = 0;
    for (std::size_t i = planes_.size(); i-- > 0;) {
      if ((planes_[i] & banks) == 0) continue;
      banks &= planes_[i];
      value |= 1u << i;
    }
    return value;
  }

 private:
  std::array<std::uint32_t, 6> planes_{};
};

/// True if no two lanes touch the same bank.
bool spreads_over_banks(const SharedAccess& access, const Group& group) {
  std::uint32_t seen = 0, twice = 0;
  for (const std::uint32_t address : group.addresses) {
    const std::uint32_t banks = access.banks(address);
    twice |= seen & banks;
    seen |= banks;
  }
  return twice == 0;
}

bool lies_in_one_row(const Group& group) {
  std::uint32_t differences = 0;
  for (const std::uint32_t address : group.addresses) differences |= address ^ group.addresses[0];
  return differences >> kLineBits == 0;
}

std::uint32_t passes(const SharedAccess& access, const Group& group) {
  if (group.lanes == 0) return 0;
  if (lies_in_one_row(group) || spreads_over_banks(access, group)) return 1;
  Table rows;
  for (const std::uint32_t address : group.addresses) {
    rows[address >> kLineBits] |= access.banks(address);
  }
  BankCounters words;
  rows.for_each([&](std::uint64_t, std::uint32_t banks) { words.add(banks); });
  return words.highest();
}

std::uint32_t hits(const SharedAccess& access, const Group& group) {
  std::array<std::uint8_t, 32> lanes{};  // by bank
  for (const std::uint32_t address : group.addresses) {
    const std::size_t first = address / 4 % 32;
    for (std::size_t word = 0; word < access.words(); ++word) ++lanes[(first + word) % 32];
  }
  return *std::ranges::max_element(lanes);
}

template <typename Cost>
SharedCost sum_over_groups(const SharedAccess& access, Cost cost) {
  const std::uint32_t lanes = access.group_lanes();
  std::uint32_t sum = 0;
  for (std::uint32_t first = 0; first < 32; first += lanes) {
    sum += cost(access, access.group(first, lanes));
  }
  return {sum, access.least(sum), true};
}

SharedCost multicast(const SharedAccess& access) { return sum_over_groups(access, passes); }

SharedCost serialised(const SharedAccess& access) { return sum_over_groups(access, hits); }

/// True if all lanes that are `distance` (1 or 2) apart, as far as both are on, have one address.
bool pairs_are_equal(const SharedAccess& access, std::uint32_t lanes, int distance) {
  const std::uint32_t lower = distance == 1 ? 0x55555555 : 0x33333333;
  for (std::uint32_t both = lanes & lanes >> distance & lower; both != 0; both &= both - 1) {
    const int lane = std::countr_zero(both);
    if (access.addresses[lane] != access.addresses[lane + distance]) return false;
  }
  return true;
}

/// True if both lanes of each pair that is `distance` apart are on, or both are off.
bool pairs_are_complete(std::uint32_t lanes, int distance) {
  const std::uint32_t lower = distance == 1 ? 0x55555555 : 0x33333333;
  return (lanes >> distance & lower) == (lanes & lower);
}

/// True if two groups of a wide load that touch no bank twice are loaded in one wavefront.
bool come_together(const SharedAccess& access, std::uint32_t lanes) {
  const bool strict = access.width == 16 && (lanes & 0xffff) != 0;
  if (strict && (access.mask >> 31 & 1) == 0) return true;
  for (const int distance : {1, 2}) {
    if (strict && !pairs_are_complete(lanes, distance)) continue;
    if (pairs_are_equal(access, lanes, distance)) return true;
  }
  return false;
}

SharedCost paired_load(const SharedAccess& access) {
  if (access.width <= 4) return multicast(access);
  const std::uint32_t lanes = access.group_lanes();
  const auto& all = access.packed.all();
  std::uint32_t wavefronts = 0;
  if (access.width == 16 && std::ranges::all_of(all, [&](auto a) { return a == all[0]; })) {
    wavefronts = divide_up(static_cast<std::uint32_t>(all.size()), 2 * lanes);
    return {wavefronts, access.least(wavefronts), true};
  }
  for (std::uint32_t lane = 0; lane < 32; lane += 2 * lanes) {
    const Group first = access.group(lane, lanes), second = access.group(lane + lanes, lanes);
    const std::uint32_t a = passes(access, first), b = passes(access, second);
    const bool together = a == 1 && b == 1 && come_together(access, first.lanes | second.lanes) &&
                          passes(access, access.group(lane, 2 * lanes)) == 1;
    wavefronts += together ? 1 : a + b;
  }
  return {wavefronts, access.least(wavefronts), true};
}

/// The cost of a copy whose global addresses are unknown, which makes it inexact: they are assumed
/// to equal the shared ones.
template <AsyncCost (*cost)(const SharedAccess&, const std::uint64_t*)>
SharedCost alike(const SharedAccess& access) {
  std::array<std::uint64_t, 32> from{};
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    from[lane] = access.addresses[lane];
  }
  SharedCost shared = cost(access, from.data()).shared;
  shared.exact = false;
  return shared;
}

constexpr std::string_view kNoRows = "accesses of this kind and width were never measured";
constexpr std::string_view kNoSources = "copies that read nothing were never measured";

/// The rule by which a kind of instruction is counted.
struct Rule {
  AccessKind kind;
  SharedCost (*cost)(const SharedAccess&);
  std::uint32_t executions;  ///< how often it is counted
  int widths;                ///< sum of the widths that were measured
  std::string_view open;     ///< why costs of these widths can be inexact
};

constexpr std::array<Rule, 9> kRules = {{
    {AccessKind::shared_load, paired_load, 1, 1 + 2 + 4 + 8 + 16, ""},
    {AccessKind::shared_store, multicast, 1, 1 + 2 + 4 + 8 + 16, ""},
    {AccessKind::shared_atomic, serialised, 1, 4 + 8, ""},
    {AccessKind::shared_popc_increment, multicast, 1, 4, ""},
    {AccessKind::shared_cas, serialised, 2, 4 + 8, ""},
    {AccessKind::ldmatrix, multicast, 1, 16, ""},
    {AccessKind::stmatrix, multicast, 1, 16, ""},
    {AccessKind::async_copy, alike<copy_through_l1>, 1, 4 + 8 + 16, kNoSources},
    {AccessKind::async_copy_bypass, alike<copy_past_l1>, 1, 16, kNoSources},
}};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    if (static_cast<std::size_t>(kRules[i].kind) != i) return false;
  }
  return true;
}
static_assert(is_in_order(), "kRules is indexed by kind");

const Rule& rule_of(AccessKind kind) { return kRules[static_cast<std::size_t>(kind)]; }

UnitCounts scattered(std::span<const std::uint64_t> addresses, int fine_bits, int coarse_bits) {
  const std::uint64_t in_coarse = (std::uint64_t{1} << (coarse_bits - fine_bits)) - 1;
  Table units;
  for (const std::uint64_t address : addresses) {
    units[address >> coarse_bits] |= 1u << (address >> fine_bits & in_coarse);
  }
  return {units.bits(), units.size()};
}

/// Units that only ascend, as nearly all do, are counted by their changes.
UnitCounts touched(std::span<const std::uint64_t> addresses, int fine_bits, int coarse_bits) {
  std::uint64_t last = addresses[0] >> fine_bits;
  UnitCounts counts{1, 1};
  for (const std::uint64_t address : addresses) {
    const std::uint64_t unit = address >> fine_bits;
    if (unit < last) return scattered(addresses, fine_bits, coarse_bits);
    counts.fine += unit != last;
    counts.coarse += (unit ^ last) >> (coarse_bits - fine_bits) != 0;
    last = unit;
  }
  return counts;
}

}  // namespace

SharedCost shared_cost(AccessKind kind, int width, const std::uint32_t* addresses,
                       std::uint32_t mask) {
  if (mask == 0) return {.exact = true};
  const Rule& rule = rule_of(kind);
  SharedCost cost = rule.cost(SharedAccess(width, addresses, mask));
  cost.wavefronts *= rule.executions;
  cost.ideal *= rule.executions;
  cost.exact = cost.exact && (rule.widths & width) != 0;
  return cost;
}

std::string_view estimate_reason(AccessKind kind, int width) {
  const Rule& rule = rule_of(kind);
  return (rule.widths & width) == 0 ? kNoRows : rule.open;
}

GlobalCost global_cost(int width, const std::uint64_t* addresses, std::uint32_t mask) {
  if (mask == 0) return {};
  const Packed<std::uint64_t> packed(addresses, mask);
  return global_cost_of_units<GlobalCost>(width, count(mask),
                                          [all = packed.all()](int fine_bits, int coarse_bits) {
                                            return touched(all, fine_bits, coarse_bits);
                                          });
}

AsyncCost async_cost(AccessKind kind, int width, const std::uint32_t* shared,
                     const std::uint64_t* global, std::uint32_t mask) {
  if (mask == 0) return {.shared = {.exact = true}, .global = {}};
  const SharedAccess to(width, shared, mask);
  AsyncCost cost =
      kind == AccessKind::async_copy ? copy_through_l1(to, global) : copy_past_l1(to, global);
  cost.shared.exact = cost.global.exact = (rule_of(kind).widths & width) != 0;
  return cost;
}

AsyncCost masked_async_cost(AccessKind kind, int width, const std::uint32_t* shared,
                            const std::uint64_t* global, CopyMask mask, CopyLanes lanes) {
  AsyncCost cost = async_cost(kind, width, shared, global, lanes.read);
  const bool hides_sources = kind == AccessKind::async_copy_bypass && mask == CopyMask::p0;
  if (!hides_sources && lanes.read == lanes.written) return cost;
  cost.shared = shared_cost(kind, width, shared, lanes.written);
  const bool was_measured = (rule_of(kind).widths & width) != 0;
  cost.shared.exact = was_measured && (hides_sources || lanes.read == 0);
  return cost;
}

std::uint32_t local_sectors(int width, const std::uint32_t* offsets, std::uint32_t mask) {
  return local_sectors_of_units(width, [&](int bytes) {
    Table chunks;  // of four units, with a bit for each unit and 8 lanes
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const std::uint32_t unit = offsets[lane] / static_cast<std::uint32_t>(bytes);
      chunks[unit / 4] |= 1u << (unit % 4 * 4 + static_cast<std::uint32_t>(lane) / 8);
    }
    return chunks.bits();
  });
}

}  // namespace warpgauge::metrics
