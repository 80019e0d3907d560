// Counts of a benchmark's cases, shown beside their times.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/cases/registry.h"

namespace warpgauge::bench {

/// Of a case, by metric.
using CaseCounts = std::map<std::string, double>;

/// Counts the cases in processes of their own, because counting patches kernels, which would
/// disturb their times; by id. What cannot be counted is not there, and `why` says why of the last
/// such case. This process must not have used CUDA.
std::map<std::string, CaseCounts> count_cases(const std::vector<const Case*>& cases,
                                              std::string* why);

}  // namespace warpgauge::bench
