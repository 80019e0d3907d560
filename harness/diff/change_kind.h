// How a value of one run differs from that of another.
#pragma once

#include <cstddef>
#include <string_view>

#include "metrics/facts/catalog.h"

namespace warpgauge::diff {

/// The value in B compared with A, from the worst on.
enum class ChangeKind {
  worse,
  lost,     ///< measured in A and not in B
  moved,    ///< by the machine, to either side
  changed,  ///< neither side is better
  better,
  added,   ///< measured in B and not in A
  gone,    ///< a line that counts nothing any more, or a value that is never judged
  unsure,  ///< noisy without an interval, or an estimate, which need not repeat
  same,
};
inline constexpr std::size_t kChangeKinds = 9;
/// "new" for `added`.
std::string_view to_string(ChangeKind kind);

/// Whether `after` is worse or better than `before`, where the metric has a direction.
ChangeKind direction(double before, double after, const metrics::Metric& metric);

}  // namespace warpgauge::diff
