// Adds counts up by kernel and source line.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "metrics/counting/line_counts.h"

namespace warpgauge::metrics {

class CountsByLine {
 public:
  /// The counts of the line, all 0 at first. They keep the common part of the line's chains of
  /// calls.
  LineCounts& at(const std::string& kernel, const SourceLine& line);

  /// Moves out all counts, ordered by kernel, file and line.
  std::vector<LineCounts> take();

 private:
  std::map<std::tuple<std::string, std::string, int>, LineCounts> lines_;
};

}  // namespace warpgauge::metrics
