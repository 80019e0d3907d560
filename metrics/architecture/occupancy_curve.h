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

/// How much of the resource a block needs.
std::uint64_t amount_of(BlockResource resource, const BlockNeeds& needs);

struct OccupancyPoint {
  std::uint64_t amount = 0;  ///< of the resource
  Occupancy occupancy;
};

/// The occupancy of growing amounts of a resource, all else as `needs` has it, up to the most that
/// a block can have: about 32 steps as large as the hardware allocates or larger, and the amount of
/// `needs` itself. Throws as occupancy() does.
std::vector<OccupancyPoint> occupancy_over(BlockResource resource, const Architecture& arch,
                                           const BlockNeeds& needs);

}  // namespace warpgauge::metrics
