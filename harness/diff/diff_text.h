// The changes between two runs, for people.
#pragma once

#include <string>
#include <vector>

#include "harness/diff/difference.h"
#include "harness/diff/same_kernels.h"
#include "harness/diff/truncate.h"

namespace warpgauge::diff {

/// One display: a table of changes by cause, the worst cases with their worst value and its line,
/// the cases that only one run measured, the headline. With everything: a block for each case, a
/// row for each value, and below it its lines. Of `kernels` it shows the names, and what became of
/// their machine code.
std::string changes_text(const std::vector<Change>& changes, const KernelsOfCases& kernels,
                         const DisplayOptions& display);

/// "WORSE: 1 worse, 3 the same".
std::string headline(const std::vector<Change>& changes);

}  // namespace warpgauge::diff
