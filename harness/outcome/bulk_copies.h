// The cases whose counts of global memory leave out bulk copies: their zeros are no absence of
// traffic.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/outcome/finding.h"

namespace warpgauge::outcome {

struct BulkCopies {
  const metrics::Fact* most = nullptr;  ///< a fact of the case that makes most, in both directions
  std::size_t cases = 0;
};

/// Nothing where no case makes any.
std::optional<BulkCopies> bulk_copies_of(const std::vector<JudgedValue>& values);

/// "Left out: global.* is the load and store unit's, without 8 bulk copies of ...", one line.
std::string bulk_copies_text(const BulkCopies& copies);

}  // namespace warpgauge::outcome
