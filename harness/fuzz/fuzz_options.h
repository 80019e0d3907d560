// The options --fuzz and --fuzz-at of the programs that run cases. Needs CLI11.
#pragma once

#include <CLI/CLI.hpp>

#include "harness/fuzz/fuzz.h"

namespace warpgauge::fuzz {

/// Adds both, of which one can be given.
void add_fuzz_options(CLI::App& command, Asked& asked);

}  // namespace warpgauge::fuzz
