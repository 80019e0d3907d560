#include "harness/emulator/machine/memory/access_record.h"

#include <bit>

#include "harness/emulator/machine/memory/context.h"
#include "metrics/warp_access.h"

namespace warpgauge::emulator::machine::memory {
namespace {

using metrics::WarpAccess;

WarpAccess::Space space_of(AccessTotals::Space space) {
  switch (space) {
    case AccessTotals::Space::global_load:
      return WarpAccess::Space::global_load;
    case AccessTotals::Space::global_store:
      return WarpAccess::Space::global_store;
    case AccessTotals::Space::global_atomic:
      return WarpAccess::Space::global_atomic;
    default:
      return WarpAccess::Space::shared;
  }
}

/// The access without its addresses.
WarpAccess described(const Warp& warp, const AccessCache& cache, const Access& access, Mask lanes) {
  WarpAccess result;
  result.space = space_of(cache.totals.space);
  result.kind = access.shared_kind;
  result.cas_loop = access.cas_loop;
  result.width = access.counted_width;
  result.mask = lanes;
  const AccessCost& cost = cache.cost;
  result.taken = result.is_shared() ? cost.wavefronts : cost.sectors;
  result.ideal = result.is_shared() ? cost.wavefronts_ideal : cost.sectors_ideal;
  result.warp = warp.memory->warp;
  result.block = warp.memory->block;
  result.block_number = warp.memory->block_number;
  return result;
}

template <typename Address>
void keep(WarpAccess& kept, const Warp& warp, AccessCache& cache, const Access& access,
          const CountedAddresses<Address>& addresses, Mask lanes) {
  const WarpAccess candidate = described(warp, cache, access, lanes);
  if (kept.mask == 0 || metrics::shows_more(candidate, kept)) {
    kept = candidate;
    for (Mask rest = lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
      kept.addresses[lane] = addresses[lane];
    }
  }
  if (kept.block_number == candidate.block_number && kept.warp != 0) cache.now.mask = 0;
}

}  // namespace

void record_access(WarpAccess& kept, const Warp& warp, AccessCache& cache, const Access& access,
                   const CountedAddresses<std::uint32_t>& addresses, Mask lanes) {
  keep(kept, warp, cache, access, addresses, lanes);
}

void record_access(WarpAccess& kept, const Warp& warp, AccessCache& cache, const Access& access,
                   const CountedAddresses<std::uint64_t>& addresses, Mask lanes) {
  keep(kept, warp, cache, access, addresses, lanes);
}

}  // namespace warpgauge::emulator::machine::memory
