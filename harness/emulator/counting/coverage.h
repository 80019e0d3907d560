// Turns executions of PTX instructions into coverage of source lines.
#pragma once

#include <span>

#include "harness/emulator/machine/core/outcome.h"
#include "harness/emulator/ptx/module.h"
#include "metrics/counting/coverage.h"

namespace warpgauge::emulator::counting {

/// Adds the functions that a launch ran. The hits of a line are those of its instruction that most
/// warps reached, summed over the calls that it was inlined through. Code of the toolkit's headers
/// counts where the program calls it; its own branches and functions do not count.
void add_launch(metrics::Coverage& coverage, std::span<const machine::FunctionHits> launch);

/// Adds all code of the module, with zeros as hits.
void add_code(metrics::Coverage& coverage, const ptx::Module& module);

}  // namespace warpgauge::emulator::counting
