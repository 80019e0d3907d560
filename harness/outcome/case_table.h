// The key metrics of every case, judged or not.
#pragma once

#include <string>

#include "harness/outcome/outcome.h"

namespace warpgauge::outcome {

/// A row for each case and architecture, in the order of the outcome. A value that nothing judges
/// stands in parentheses, a wrong one has "!", a missing one is "-". The last line says so.
std::string case_table(const Outcome& outcome);

}  // namespace warpgauge::outcome
