// Waivers of findings: what a check finds in a kernel, and is known and meant.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "metrics/facts/fact.h"

namespace warpgauge::metrics {

/// One entry of `waive`: a known finding, by its rule and all that it names: lines, and allocations
/// ("cudaMalloc #3").
struct Waiver {
  std::string rule;                ///< as checks name it: "race"
  std::vector<std::string> lines;  ///< "bfs.cu:31", at most two; a path may go before it
  std::optional<std::chrono::year_month_day> until;  ///< the last day; nullopt: it lasts
  std::string reason;
  std::string origin;  ///< file:line of the entry

  /// Whether the finding breaks this rule at these lines and no others.
  bool names(const Fact& finding) const;
  /// Whether the finding names one of these lines, or breaks this rule in one of their files.
  bool is_near(const Fact& finding) const;
};

}  // namespace warpgauge::metrics
