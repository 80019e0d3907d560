// Facts of exact counts, by CUPTI's SASS metrics or the emulator: adds the source lines of a case
// up, and gives each value a line to blame and a confidence.
#pragma once

#include <string_view>
#include <vector>

#include "metrics/facts/fact.h"

namespace warpgauge {

namespace metrics {
struct LineCounts;
}

/// The facts of the case with these `lines`, each as sure as its least sure line, then the facts of
/// the lines whose values are not, or may not be, 0. `counted` has the case; `source` is the
/// counter's name.
std::vector<metrics::Fact> counted_facts(const std::vector<metrics::LineCounts>& lines,
                                         metrics::Fact counted, std::string_view source);

}  // namespace warpgauge
