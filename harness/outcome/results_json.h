// An outcome as JSON: results.json (harness/outcome/results.schema.json), which every output draws.
#pragma once

#include <iosfwd>

#include "harness/outcome/outcome.h"

namespace warpgauge::outcome {

/// Values of `cases` are those that were judged, times, and what makes the run red; `every_value`:
/// all values of whole cases.
void write_results_json(std::ostream& out, const Outcome& outcome, bool every_value = false);

}  // namespace warpgauge::outcome
