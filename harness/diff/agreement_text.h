// How far the counts of two sources agree, for people.
#pragma once

#include <string>

#include "harness/diff/agreement.h"
#include "harness/diff/truncate.h"

namespace warpgauge::diff {

/// Source lines by family, those that differ first, the counts that differ with their reasons,
/// what was left out, and the headline. With everything: all families, whole cases by family, too.
/// The tables are at most 100 columns wide for names of usual length.
std::string comparison_text(const CountComparison& comparison, const DisplayOptions& display);

/// "EQUAL: no count differs that both call exact; ...".
std::string headline(const CountComparison& comparison);

}  // namespace warpgauge::diff
