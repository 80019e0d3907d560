// How far two sources agree on the counts of one case.
#pragma once

#include <vector>

#include "harness/diff/agreement.h"
#include "harness/diff/counted_cases.h"

namespace warpgauge::diff {

/// Whether both sides have the same kernels with the same machine code, or one side does not know
/// its code. A kernel that the other side does not have is other code, too: its lines have no
/// counterpart.
bool is_same_code(const CountedCase& a, const CountedCase& b);

/// Whether a side says on which lines it counted: it has lines, or its counts are all 0.
bool knows_its_lines(const CountedKey& key, const CountedCase& counted);

struct ComparedCase {
  FamilyAgreement agreement;
  std::vector<CountDifference> differences;
};

/// Compares the case line by line, where both sides know their lines, and as a whole.
ComparedCase compare_case(const CountedKey& key, const CountedCase& a, const CountedCase& b);

}  // namespace warpgauge::diff
