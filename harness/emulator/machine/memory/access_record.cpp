// Makes the record of an access.
#include "harness/emulator/machine/memory/access_record.h"

#include <bit>
#include <utility>

#include "harness/emulator/machine/memory/cluster_memory.h"
#include "harness/emulator/machine/memory/context.h"
#include "harness/emulator/machine/memory/copied_tiles.h"
#include "metrics/counting/warp_access.h"

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

}  // namespace

bool was_before(const Warp& warp, const WarpAccess& record) {
  return std::pair(warp.block, warp.number) < std::pair(record.block_number, record.warp);
}

template <typename Address>
WarpAccess recorded(const Warp& warp, const AccessCache& cache, const Access& access,
                    const CountedAddresses<Address>& addresses, Mask lanes) {
  WarpAccess result;
  result.space = space_of(cache.totals.space);
  result.kind = access.shared_kind;
  result.cas_loop = access.cas_loop;
  result.width = access.counted_width;
  result.mask = lanes;
  const AccessCost& cost = cache.cost;
  result.taken = result.is_shared() ? cost.wavefronts : cost.sectors;
  result.ideal = result.is_shared() ? cost.wavefronts_ideal : cost.sectors_ideal;
  result.warp = warp.number;
  result.block = warp.memory->block;
  result.block_number = warp.block;
  for (Mask rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    result.addresses[lane] = addresses[lane];
  }
  const MemoryContext& context = *warp.memory;
  const CopiedTiles* tiles =
      context.cluster == nullptr ? nullptr : context.cluster->parts[context.rank].tiles;
  if (tiles != nullptr) result.tile = tiles->find(result, context.shared);
  return result;
}

template WarpAccess recorded(const Warp&, const AccessCache&, const Access&,
                             const CountedAddresses<std::uint32_t>&, Mask);
template WarpAccess recorded(const Warp&, const AccessCache&, const Access&,
                             const CountedAddresses<std::uint64_t>&, Mask);

}  // namespace warpgauge::emulator::machine::memory
