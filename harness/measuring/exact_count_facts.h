// Facts of counts: the values of a case from those of its source lines, whom to blame for each, and
// how far it can be trusted.
#pragma once

#include <string_view>
#include <vector>

#include "metrics/facts/fact.h"

namespace warpgauge {

namespace metrics {
struct LineCounts;
}

/// The facts of the case that `lines` make up, each as sure as its least sure line, then those of
/// the lines that are not 0, or might not be. `counted` has the case; `source` is the counter's
/// name.
std::vector<metrics::Fact> counted_facts(const std::vector<metrics::LineCounts>& lines,
                                         metrics::Fact counted, std::string_view source);

}  // namespace warpgauge
