// The shared memory of the blocks of a cluster, which all of them reach.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "harness/emulator/machine/checks/cluster_times.h"
#include "harness/emulator/machine/core/access.h"
#include "harness/emulator/machine/core/lane_addresses.h"
#include "harness/emulator/machine/core/lanes.h"
#include "harness/emulator/machine/core/warp.h"

namespace warpgauge::emulator::machine::checks {
class History;
}  // namespace warpgauge::emulator::machine::checks

namespace warpgauge::emulator::machine::memory {

class CopiedTiles;

/// By rank in the cluster.
struct ClusterMemory {
  static constexpr std::uint32_t kMostBlocks = checks::ClusterTimes::kMostBlocks;
  struct Part {
    std::byte* shared = nullptr;
    checks::History* history = nullptr;  ///< nullptr: no check needs one
    CopiedTiles* tiles = nullptr;        ///< its block's
    bool has_ended = false;              ///< its block
  };
  std::array<Part, kMostBlocks> parts{};
  std::uint32_t blocks = 1;
  checks::ClusterTimes times;

  void begin();  ///< another cluster
};

/// A place in the shared memory of some block of the cluster.
struct SharedPlace {
  std::uint32_t rank = 0;    ///< the block's
  std::uint32_t offset = 0;  ///< bytes
};

/// Addresses of 32 bits of .shared::cluster: those of the block's own shared memory are offsets;
/// those that mapa gives name the block above them.
static constexpr int kRankShift = 24;
[[gnu::always_inline]] constexpr std::uint32_t cluster_address(SharedPlace place) {
  return (place.rank + 1) << kRankShift | place.offset;
}
[[gnu::always_inline]] constexpr std::uint64_t names_block(std::uint64_t shared_address) {
  return shared_address >> kRankShift != 0 && shared_address >> 32 == 0;
}

struct MemoryContext;

/// The memory of another block is used at once, not by a copy: that must not have ended, now or
/// later.
void note_use(const Warp& warp, const Instruction& instruction, int lane, std::uint32_t rank);

/// The place that an address of 32 bits means in this block. The block may not exist.
SharedPlace place_of(const MemoryContext& context, std::uint32_t address);
/// The same of an address of 64 bits, generic or of .shared; a place outside of the cluster if it
/// is in no shared memory.
SharedPlace place_of_wide(const MemoryContext& context, std::uint64_t address);

/// Fills the pointers of lanes whose addresses are in shared memory of the cluster (generic ones,
/// or of .shared::cluster), and notes what they write. Throws Fault.
void find_in_cluster(const Warp& warp, const Instruction& instruction, const Access& access,
                     const LaneAddresses<std::uint64_t>& lanes, std::uint64_t* pointers);
/// The pointer to `bytes` bytes there, a multiple of `alignment`. Throws Fault; `what` names the
/// access ("source of cp.async.bulk").
std::byte* pointer_to(const Warp& warp, const Instruction& instruction, int lane, SharedPlace place,
                      std::uint64_t bytes, std::uint32_t alignment, const char* what);

}  // namespace warpgauge::emulator::machine::memory
