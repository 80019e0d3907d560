// Counts of requests whose cost no distances of lanes decide: bulk copies, accesses to shared
// memory of the cluster, operands of asynchronous matrix products.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "harness/emulator/machine/core/access_totals.h"
#include "harness/emulator/machine/core/warp.h"
#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::memory {

/// Adds `more`, of one execution or of a part of it, to the counter. It must have a space.
inline void count(const Warp& warp, std::uint32_t counter, const AccessTotals& more) {
  add(warp.memory->caches[counter].totals, more);
}

/// 32-byte sectors of `bytes` bytes from `address` on; 0 of none.
constexpr std::uint64_t sectors_of(std::uint64_t address, std::uint64_t bytes) {
  constexpr std::uint64_t kSector = 32;
  return bytes == 0 ? 0 : (address + bytes - 1) / kSector - address / kSector + 1;
}

/// Where the bulk copies of an instruction count, and which.
struct BulkCounter {
  std::uint32_t counter = 0;
  bool is_once = false;  ///< the machine code has one for all lanes: that of the first counts

  bool counts(const Warp& warp, int lane) const {
    return !is_once || lane == std::countr_zero(warp.active);
  }
};

/// A bulk copy of one lane, from global memory or to it (Space::bulk_load, bulk_store): of `bytes`
/// bytes in `sectors` sectors.
inline void count_bulk_copy(const Warp& warp, BulkCounter to, int lane, AccessTotals::Space space,
                            std::uint64_t bytes, std::uint64_t sectors) {
  if (!to.counts(warp, lane)) return;
  count(warp, to.counter, {.space = space, .requests = 1, .sectors = sectors, .bytes = bytes});
}

/// An access of a warp to shared memory of the cluster.
inline void count_cluster_request(const Warp& warp, std::uint32_t counter) {
  count(warp, counter, {.space = AccessTotals::Space::cluster, .requests = 1});
}

/// A wgmma of a warp. `operand_bytes` are those of both operands of its warpgroup that lie in
/// shared memory, which it reads without bank conflicts, in wavefronts of 128 bytes: those that the
/// four warps count are as many together.
void count_wgmma(const Warp& warp, std::uint32_t counter, std::uint64_t operand_bytes);

}  // namespace warpgauge::emulator::machine::memory
