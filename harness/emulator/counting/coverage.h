// Coverage of source lines out of executions of PTX instructions.
#pragma once

#include <span>

#include "harness/emulator/machine/core/outcome.h"
#include "harness/emulator/ptx/module.h"
#include "metrics/counting/coverage.h"

namespace warpgauge::emulator::counting {

/// Adds a function of the module. `hits` are those of its body by position; empty: it did not run.
/// The hits of a line are those of its instruction that most warps came to, added up over the calls
/// that it was inlined through. Code of the toolkit's headers counts where the program calls it;
/// its own branches and functions do not.
void add_function(metrics::Coverage& coverage, const ptx::Module& module,
                  const ptx::Function& function, std::span<const machine::InstructionHits> hits);

/// Adds the lines that a launch ran.
void add_launch(metrics::Coverage& coverage, std::span<const machine::FunctionHits> launch);

/// Adds all code of the module, as code that never ran.
void add_code(metrics::Coverage& coverage, const ptx::Module& module);

}  // namespace warpgauge::emulator::counting
