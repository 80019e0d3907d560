// Counts of a benchmark's cases, shown beside their times.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/cases/registry.h"

namespace warpgauge::bench {

/// The counts of a case, by metric.
using CaseCounts = std::map<std::string, double>;

struct CountedCases {
  std::map<std::string, CaseCounts> counts;  ///< by id, without the counts that are missing
  std::string why_not;                       ///< why the last missing count is; empty: none is
};

/// Counts the cases in processes of their own, because counting patches kernels, which would
/// disturb their times. This process must not have used CUDA.
CountedCases count_cases(const std::vector<const Case*>& cases);

}  // namespace warpgauge::bench
