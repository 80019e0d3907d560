// Theoretical occupancy over one of the resources that decide it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "metrics/architecture/occupancy.h"

namespace warpgauge::metrics {

enum class BlockResource { threads, registers, shared };

/// "threads", "registers" (of a thread), "shared" (bytes of a block).
std::string_view to_string(BlockResource resource);

/// The threads, registers or bytes that a block needs.
std::uint64_t amount_of(BlockResource resource, const BlockNeeds& needs);

struct OccupancyPoint {
  std::uint64_t amount = 0;  ///< threads, registers or bytes
  Occupancy occupancy;
};

/// The occupancy for growing amounts of a resource, up to the most that a block can have; all else
/// is as `needs` has it. There are about 32 steps, none smaller than the hardware's unit of
/// allocation, and the amount of `needs` itself. Throws as occupancy() does.
std::vector<OccupancyPoint> occupancy_over(BlockResource resource, const Architecture& arch,
                                           const BlockNeeds& needs);

}  // namespace warpgauge::metrics
