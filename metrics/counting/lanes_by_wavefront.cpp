// Divides an access into groups of lanes, and each group into wavefronts.
#include "metrics/counting/lanes_by_wavefront.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "metrics/counting/access_lanes.h"

namespace warpgauge::metrics {
namespace {

using Addresses = std::array<std::uint32_t, 32>;

/// An access as the counting rules take it.
struct Ruled {
  AccessKind kind;
  SharedAccess access;

  std::uint32_t wavefronts(std::uint32_t mask) const {
    return shared_cost(kind, static_cast<int>(access.width), access.addresses, mask).wavefronts;
  }
  std::uint32_t run(std::uint32_t first, std::uint32_t size) const {
    return access.mask & kAllLanes >> (32 - size) << first;
  }
};

/// Groups of 16 lanes that are on, for a load of 16 bytes at one address.
std::vector<std::uint32_t> sixteen_at_a_time(std::uint32_t mask) {
  std::vector<std::uint32_t> groups;
  for (int taken = 0; mask != 0; mask &= mask - 1, ++taken) {
    if (taken % 16 == 0) groups.push_back(0);
    groups.back() |= mask & -mask;
  }
  return groups;
}

/// Adds two groups of a wide load, merged into one where the rule counts one wavefront for both.
/// The rule depends on the lanes behind them as well, so it is evaluated with the groups and
/// without.
void add_pair(const Ruled& ruled, std::uint32_t first, std::uint32_t lanes,
              std::vector<std::uint32_t>& groups) {
  const std::uint32_t a = ruled.run(first, lanes), b = ruled.run(first + lanes, lanes);
  const std::uint32_t onwards = ruled.access.mask & kAllLanes << first;
  const bool together = ruled.wavefronts(onwards) - ruled.wavefronts(onwards & ~(a | b)) == 1;
  if (together) {
    groups.push_back(a | b);
    return;
  }
  groups.insert(groups.end(), {a, b});
}

std::vector<std::uint32_t> groups_of(const Ruled& ruled) {
  const SharedAccess& access = ruled.access;
  const auto& all = access.packed.all();
  const bool wide_load = ruled.kind == AccessKind::shared_load && access.width > 4;
  if (wide_load && access.width == 16 &&
      std::ranges::all_of(all, [&](auto address) { return address == all[0]; })) {
    return sixteen_at_a_time(access.mask);
  }
  std::vector<std::uint32_t> groups;
  const std::uint32_t lanes = access.group_lanes();
  for (std::uint32_t first = 0; first < 32; first += wide_load ? 2 * lanes : lanes) {
    if (wide_load) {
      add_pair(ruled, first, lanes, groups);
    } else {
      groups.push_back(ruled.run(first, lanes));
    }
  }
  std::erase(groups, 0);
  return groups;
}

/// Adds the wavefronts of a group. `alone`: lanes do not share a word.
void add_group(const SharedAccess& access, std::uint32_t group, bool alone,
               std::vector<Wavefront>& list) {
  const std::size_t first = list.size();
  std::array<std::vector<std::uint32_t>, 32> rows;  // rows of shared memory, by bank
  for (std::uint32_t rest = group; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    const std::uint32_t row = access.addresses[lane] >> kLineBits;
    for (std::uint32_t banks = access.banks(access.addresses[lane]); banks != 0;
         banks &= banks - 1) {
      const auto bank = static_cast<std::size_t>(std::countr_zero(banks));
      std::vector<std::uint32_t>& known = rows[bank];
      const auto found = alone ? known.end() : std::ranges::find(known, row);
      const auto turn = static_cast<std::size_t>(found - known.begin());
      if (found == known.end()) known.push_back(row);
      if (first + turn == list.size()) list.push_back({group, {}});
      list[first + turn].lanes[bank] |= 1u << lane;
    }
  }
}

}  // namespace

Wavefronts wavefronts_of(const WarpAccess& access) {
  Wavefronts result;
  if (access.mask == 0) return result;
  Addresses addresses;
  for (std::size_t lane = 0; lane < 32; ++lane) {
    addresses[lane] = static_cast<std::uint32_t>(access.addresses[lane]);
  }
  const Ruled ruled{access.kind, SharedAccess(access.width, addresses.data(), access.mask)};
  const AccessKind kind = access.kind;
  const bool copies = kind == AccessKind::async_copy || kind == AccessKind::async_copy_bypass;
  if (!copies && !access.cas_loop) {
    const bool alone = kind == AccessKind::shared_atomic || kind == AccessKind::shared_cas;
    if (kind == AccessKind::shared_cas) result.executions = 2;
    for (const std::uint32_t group : groups_of(ruled)) {
      add_group(ruled.access, group, alone, result.list);
    }
    // The counting rules decide: where their number differs, the list does not show wavefronts.
    if (result.list.size() * result.executions == ruled.wavefronts(access.mask)) return result;
  }
  result = {.list = {}, .lanes_known = false};
  add_group(ruled.access, access.mask, false, result.list);
  return result;
}

}  // namespace warpgauge::metrics
