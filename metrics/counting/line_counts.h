// The counts of one source line of one kernel, and how far they can be trusted.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/base/source_line.h"
#include "metrics/counting/counts.h"
#include "metrics/counting/cure.h"
#include "metrics/facts/confidence.h"

namespace warpgauge::metrics {

/// The counts of one line of one kernel. `file` is empty where the code has no line information.
struct LineCounts {
  std::string kernel;  ///< mangled name
  std::string file;
  int line = 0;
  Counts counts;
  /// The trust in the counts of groups of metrics, by the first part of their ids ("shared",
  /// "global", "local", "instructions", "branches", "bulk", "wgmma", "cluster"). Groups that are
  /// missing are exact.
  std::map<std::string, Trust, std::less<>> trust = {};
  /// The common part of the chains that its code was inlined through: SourceLine.
  std::vector<CallSite> inlined = {};
  /// The cures of its accesses, by metric; empty where the lanes' addresses are not known.
  Cures cures = {};

  SourceLine source() const { return {file, line, inlined}; }
};

/// The trust in the value of the metric `id` in `line`. A value that no GPU counts is never exact.
const Trust& trust_in(const LineCounts& line, std::string_view id);

}  // namespace warpgauge::metrics
