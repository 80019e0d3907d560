// The cure of an access that takes more than its ideal. It is worked out from the lanes' addresses,
// and the counting rules confirm it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "metrics/counting/warp_access.h"

namespace warpgauge::metrics {

/// Describes the pattern of the lanes' addresses, and the change that takes the fewest wavefronts
/// or sectors by the counting rules. Changes that are tried: combined updates, padded rows, a
/// swizzle where padding does not reach the ideal, lanes side by side; for a tile that a tensor
/// copy wrote, whose rows cannot be padded, another swizzle of the tensor map. Without a change
/// where none takes fewer, or where the rules do not cover other addresses. Empty for an access at
/// its ideal.
///
/// Padding keeps the alignment of the access. `widest` is the largest width, in bytes a lane, of
/// the kernel's accesses to shared memory. Where it is larger than this access's, the padding that
/// keeps its alignment is given as well.
std::string cure_of(const WarpAccess& access, int widest);

/// Texts by the id of a metric.
using Cures = std::map<std::string, std::string, std::less<>>;

/// Gives `cure` to the metrics that count the cost of accesses to `space`, unless they have one.
void add_cure(Cures& cures, WarpAccess::Space space, std::string_view cure);

}  // namespace warpgauge::metrics
