// Matches names with fnmatch(3).
#include "metrics/base/glob.h"

#include <fnmatch.h>

#include <algorithm>

namespace warpgauge::metrics {

bool fits(const std::string& glob, std::span<const std::string> names) {
  return std::ranges::any_of(names, [&](const std::string& name) {
    return glob == name || fnmatch(glob.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
  });
}

}  // namespace warpgauge::metrics
