// A comparison of the counts of two runs: for people, and as JSON.
#pragma once

#include <string>

#include "harness/diff/compare.h"

namespace warpgauge::diff {

/// Source lines and whole cases by family, what was left out, every difference with its reason, and
/// what it comes to. The table is at most 100 columns wide for names of usual length.
std::string comparison_text(const FactComparison& comparison);

/// All of it as one JSON object: `families` and `total` with their agreement, `differences`,
/// `left_out`.
std::string comparison_json(const FactComparison& comparison);

}  // namespace warpgauge::diff
