// Makes a trial that fails smaller.
#pragma once

#include <functional>

#include "harness/fuzz/trial.h"

namespace warpgauge::fuzz {

/// The smallest trial that is found to fail, from one that does: first with smaller extents, by
/// halves of the way to the lowest and then by one, and then with a smaller seed. `fails` runs a
/// trial of the case.
Trial smallest(const Case& tried, Trial failing, const std::function<bool(const Trial&)>& fails);

}  // namespace warpgauge::fuzz
