// The changes between two runs, for people.
#pragma once

#include <string>
#include <vector>

#include "harness/diff/difference.h"
#include "harness/diff/kernel_changes.h"
#include "harness/diff/same_kernels.h"
#include "harness/diff/truncate.h"

namespace warpgauge::diff {

/// One display: a table of kernels by cause, the worst kernels with what got worse and better and
/// its lines, the kernels that only one run measured, the headline. With everything: a block for
/// each case, a row for each value, and below it its lines. Of compiled files it shows the `names`
/// of kernels, and what became of their machine code.
std::string changes_text(const std::vector<Change>& changes,
                         const std::vector<KernelChanges>& kernels, const KernelsOfCases& names,
                         const DisplayOptions& display);

}  // namespace warpgauge::diff
