// Names the kinds of changes, and tells worse from better.
#include "harness/diff/change_kind.h"

namespace warpgauge::diff {

std::string_view to_string(ChangeKind kind) {
  constexpr std::string_view kTexts[kChangeKinds] = {"worse", "lost", "moved",  "changed", "better",
                                                     "new",   "gone", "unsure", "same"};
  return kTexts[static_cast<std::size_t>(kind)];
}

ChangeKind direction(double before, double after, const metrics::Metric& metric) {
  if (metric.cls == metrics::Class::info || metric.direction == metrics::Direction::none) {
    return ChangeKind::changed;
  }
  const bool lower_is_better = metric.direction == metrics::Direction::lower;
  return (after > before) == lower_is_better ? ChangeKind::worse : ChangeKind::better;
}

}  // namespace warpgauge::diff
