// Matches the ids of cases with globs.
#include "harness/cases/selection.h"

#include <algorithm>

#include "metrics/base/glob.h"

namespace warpgauge {
namespace {

bool fits_one(const std::vector<std::string>& globs, const std::string& id) {
  return std::ranges::any_of(globs, [&](const std::string& glob) {
    return metrics::fits(glob, {&id, 1});
  });
}

}  // namespace

bool Selection::is_filtered_in(const std::string& id) const {
  return filter.empty() || fits_one(filter, id);
}

bool Selection::is_excluded(const std::string& id) const { return fits_one(exclude, id); }

}  // namespace warpgauge
