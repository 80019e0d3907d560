#include "harness/diff/mark.h"

namespace warpgauge::diff {

std::string_view to_string(Mark mark) {
  constexpr std::string_view kTexts[kMarks] = {"worse", "lost", "moved",  "changed", "better",
                                               "new",   "gone", "unsure", "same"};
  return kTexts[static_cast<std::size_t>(mark)];
}

Mark direction(double before, double after, const metrics::Metric& metric) {
  if (metric.cls == metrics::Class::info || metric.direction == metrics::Direction::none) {
    return Mark::changed;
  }
  const bool lower_is_better = metric.direction == metrics::Direction::lower;
  return (after > before) == lower_is_better ? Mark::worse : Mark::better;
}

}  // namespace warpgauge::diff
