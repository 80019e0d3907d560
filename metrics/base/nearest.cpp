// Finds the nearest name by edit distance (Levenshtein).
#include "metrics/base/nearest.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace warpgauge::metrics {
namespace {

constexpr std::size_t kLeastOfStart = 3;  ///< letters; fewer begin too many names

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view name, std::span<const std::string> candidates) {
  std::size_t best = std::max<std::size_t>(1, name.size() / 3) + 1;
  std::string found;
  for (const std::string& candidate : candidates) {
    // A difference in length is a lower bound of the distance: longer candidates need no
    // comparison.
    const auto [shorter, longer] = std::minmax({name.size(), candidate.size()});
    if (longer - shorter >= best) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best) {
      best = distance;
      found = candidate;
    }
  }
  if (!found.empty() || name.size() < kLeastOfStart) return found;
  const auto begun = std::ranges::find_if(
      candidates, [&](const std::string& candidate) { return candidate.starts_with(name); });
  return begun == candidates.end() ? "" : *begun;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  const std::string found = nearest(name, candidates);
  return found.empty() ? "" : ", did you mean '" + found + "'?";
}

}  // namespace warpgauge::metrics
