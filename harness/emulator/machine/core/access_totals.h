// Sums over the executions of one memory instruction.
#pragma once

#include <cstdint>
#include <string_view>

namespace warpgauge::emulator::machine {

/// Sums over the executions of one PTX instruction. One request is one warp instruction; of bulk
/// copies one copy, for the machine code issues them for one lane after the other.
struct AccessTotals {
  enum class Space : std::uint8_t {
    none,
    shared,
    global_load,
    global_store,
    global_atomic,
    local,
    bulk_load,   ///< bulk copies from global memory
    bulk_store,  ///< bulk copies and reductions to global memory
    cluster,     ///< shared memory of the cluster
    wgmma,       ///< operands of asynchronous matrix products, in shared memory
  };
  Space space = Space::none;  ///< a generic instruction may have several: see InstructionTotals
  std::uint64_t requests = 0;
  std::uint64_t wavefronts = 0, wavefronts_ideal = 0;  ///< shared, wgmma
  std::uint64_t sectors = 0, sectors_ideal = 0;        ///< global; local and bulk (no ideal)
  std::uint64_t bytes = 0;                             ///< bulk
  std::uint64_t tags = 0;                              ///< global: 128-byte lines
  std::uint64_t lane_groups = 0;                       ///< groups of 8 lanes, with some that access
  std::uint64_t estimates = 0;       ///< requests whose cost no measurement decides
  std::string_view estimate_reason;  ///< if there are any: what is open
};

/// Adds up the counts of several workers for one instruction: the same space, or none yet.
void add(AccessTotals& sum, const AccessTotals& more);

}  // namespace warpgauge::emulator::machine
