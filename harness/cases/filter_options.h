// The options --filter and --exclude of the commands that select cases. Needs CLI11.
#pragma once

#include <CLI/CLI.hpp>

#include "harness/cases/selection.h"

namespace warpgauge {

/// Adds both, to fill `selection`. Each can be repeated, and takes several globs with commas
/// between them; an empty glob is none.
void add_filter_options(CLI::App& command, Selection& selection);

}  // namespace warpgauge
