// Keeps the counts of lines in a sorted map.
#include "metrics/counting/counts_by_line.h"

#include <utility>

namespace warpgauge::metrics {

LineCounts& CountsByLine::at(const std::string& kernel, const SourceLine& line) {
  const auto [place, is_new] = lines_.try_emplace({kernel, line.file, line.line});
  LineCounts& counts = place->second;
  if (is_new) {
    counts.kernel = kernel;
    counts.file = line.file;
    counts.line = line.line;
    counts.inlined = line.inlined;
  } else if (!counts.inlined.empty() && counts.inlined != line.inlined) {
    counts.inlined = common_chain(counts.source(), line);
  }
  return counts;
}

std::vector<LineCounts> CountsByLine::take() {
  std::vector<LineCounts> all;
  for (auto& [key, counts] : std::exchange(lines_, {})) all.push_back(std::move(counts));
  return all;
}

}  // namespace warpgauge::metrics
