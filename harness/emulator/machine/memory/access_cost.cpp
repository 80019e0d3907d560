// The cost of one execution of a memory instruction.
#include "harness/emulator/machine/memory/access_cost.h"

#include <bit>

#include "metrics/counting/counting_rules.h"
#include "metrics/counting/warp_access.h"

namespace warpgauge::emulator::machine::memory {
namespace {

using Space = AccessTotals::Space;

/// One lane of each address: the lanes whose CAS succeeds if all of them try at once.
Mask first_of_each(const CountedAddresses<std::uint32_t>& addresses, Mask lanes) {
  Mask firsts = 0;
  for (Mask rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    bool seen = false;
    for (Mask others = firsts; others != 0; others &= others - 1) {
      seen =
          seen || addresses[static_cast<std::size_t>(std::countr_zero(others))] == addresses[lane];
    }
    if (!seen) firsts |= Mask{1} << lane;
  }
  return firsts;
}

/// A loop of a load and a CAS, in which one lane of each address succeeds in each round.
metrics::SharedCost cost_of_cas_loop(int width, const CountedAddresses<std::uint32_t>& addresses,
                                     Mask lanes) {
  metrics::SharedCost sum;
  while (lanes != 0) {
    for (const auto kind : {metrics::AccessKind::shared_load, metrics::AccessKind::shared_cas}) {
      const metrics::SharedCost cost = metrics::shared_cost(kind, width, addresses.data(), lanes);
      sum.wavefronts += cost.wavefronts;
      sum.ideal += cost.ideal;
    }
    lanes &= ~first_of_each(addresses, lanes);
  }
  return sum;
}

void put(AccessCache& cache, const metrics::SharedCost& cost, Mask lanes) {
  cache.totals.space = Space::shared;
  cache.cost = {.wavefronts = cost.wavefronts,
                .wavefronts_ideal = cost.ideal,
                .lane_groups = machine::lane_groups(lanes),
                .exact = cost.exact,
                .rank = metrics::shown_rank(cost.wavefronts, cost.ideal, lanes)};
}

}  // namespace

void count_shared(AccessCache& cache, const Access& access,
                  const CountedAddresses<std::uint32_t>& addresses, Mask lanes) {
  const int width = access.counted_width;
  if (access.cas_loop) {
    put(cache, cost_of_cas_loop(width, addresses, lanes), lanes);
    cache.totals.estimate_reason = "the number of rounds of a CAS loop is a guess";
    return;
  }
  put(cache, metrics::shared_cost(access.shared_kind, width, addresses.data(), lanes), lanes);
  if (!cache.cost.exact) {
    cache.totals.estimate_reason = metrics::estimate_reason(access.shared_kind, width);
  }
}

void count_copy(AccessCache& shared, AccessCache& global, const CopyDetail& copy,
                const CountedAddresses<std::uint32_t>& to,
                const CountedAddresses<std::uint64_t>& from, Mask written, Mask read) {
  const metrics::AccessKind kind = copy.to.shared_kind;
  const int width = copy.to.counted_width;
  const bool is_masked = copy.mask != metrics::CopyMask::none;
  metrics::AsyncCost cost = is_masked
                                ? metrics::masked_async_cost(kind, width, to.data(), from.data(),
                                                             copy.mask, {written, read})
                                : metrics::async_cost(kind, width, to.data(), from.data(), read);
  if (written != read && !is_masked) {
    cost.shared = metrics::shared_cost(kind, width, to.data(), written);
    cost.shared.exact = cost.global.exact = false;
  }
  put(shared, cost.shared, written);
  put(global, copy.from, cost.global, read);
  if (!cost.shared.exact || !cost.global.exact) {
    const auto reason = written == read
                            ? metrics::estimate_reason(kind, width)
                            : "copies of which some lanes read less were never measured";
    shared.totals.estimate_reason = global.totals.estimate_reason = reason;
  }
}

}  // namespace warpgauge::emulator::machine::memory
