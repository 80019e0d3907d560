// The cure of an access that takes more than its ideal, worked out from the lanes' addresses and
// put through the counting rules before it is given.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "metrics/counting/warp_access.h"

namespace warpgauge::metrics {

/// Of a tile that a tensor copy wrote, the swizzle of the tensor map that takes the fewest
/// wavefronts: such rows cannot be padded. Of others, how the lanes' addresses lie, and the change
/// of them that takes the fewest wavefronts or sectors, with the number that the counting rules
/// give: updates combined, rows padded, a swizzle where padding does not reach the ideal, lanes
/// side by side. Only how they lie where nothing that is tried takes fewer, and where the rules do
/// not say what other addresses would take. Empty for an access at its ideal.
///
/// Padding keeps the alignment of the access. `widest` is the most bytes a lane that the kernel
/// accesses shared memory with: where they are more, the padding that keeps their alignment is
/// given as well.
std::string cure_of(const WarpAccess& access, int widest);

/// Texts by the id of a metric.
using Cures = std::map<std::string, std::string, std::less<>>;

/// Gives `cure` to the metrics that count what accesses to its space take, unless they have one.
void add_cure(Cures& cures, WarpAccess::Space space, std::string_view cure);

}  // namespace warpgauge::metrics
