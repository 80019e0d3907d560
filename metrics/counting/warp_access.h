// One access of a warp with the lanes' addresses, from which it is drawn. Only the emulator knows
// addresses.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "metrics/counting/copied_tile.h"
#include "metrics/counting/counting_rules.h"

namespace warpgauge::metrics {

/// An access as shared_cost(), global_cost() or async_cost() counted it.
struct WarpAccess {
  enum class Space : std::uint8_t { shared, global_load, global_store, global_atomic };
  Space space = Space::shared;
  AccessKind kind = AccessKind::shared_load;  ///< for accesses to shared memory, and copies
  bool cas_loop = false;                      ///< counted as a loop of loads and CAS
  int width = 0;                              ///< bytes a lane
  std::uint32_t mask = 0;                     ///< lanes that are on; 0: there was no access
  std::array<std::uint64_t, 32> addresses{};  ///< multiples of width; shared: of the block's memory
  std::uint32_t taken = 0, ideal = 0;         ///< wavefronts of shared ones, sectors of others
  std::array<std::uint32_t, 3> block{};       ///< the block of the warp
  std::uint64_t block_number = 0;             ///< the linear number of the block
  std::uint32_t warp = 0;
  std::optional<CopiedTile> tile;  ///< the tile that all lanes read, as a tensor copy wrote it

  bool is_shared() const { return space == Space::shared; }
};

/// Ranks accesses by what they show: first by their cost beyond the ideal, then by their cost, then
/// by their lanes. The rank of an access that happened is never 0.
[[gnu::always_inline]] inline std::uint64_t shown_rank(std::uint32_t taken, std::uint32_t ideal,
                                                       std::uint32_t mask) {
  const std::uint64_t beyond = taken > ideal ? taken - ideal : 0;
  return beyond << 32 | std::uint64_t{taken} << 8 | static_cast<unsigned>(__builtin_popcount(mask));
}

/// True if `a` is to be shown instead of `b`: its rank is higher, or it is equal and its warp is
/// earlier.
bool shows_more(const WarpAccess& a, const WarpAccess& b);

/// Bytes from each lane to the next, if all lanes that are on have the same distance.
std::optional<std::int64_t> lane_distance(const WarpAccess& access);

}  // namespace warpgauge::metrics
