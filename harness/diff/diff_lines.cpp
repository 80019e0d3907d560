// Compares the source lines of a value.
#include "harness/diff/diff_lines.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace warpgauge::diff {
namespace {

double distance(const LineChange& line) {
  return std::abs(line.b.value_or(0) - line.a.value_or(0));
}

/// Takes the lines that only have another number out of both sides.
std::vector<LineChange> take_shifted(LineValues& a, LineValues& b) {
  using Alike = std::tuple<std::string, std::string, double>;  // kernel, file, value
  std::map<Alike, std::vector<LineKey>> waiting;               // the last line first
  for (auto line = b.rbegin(); line != b.rend(); ++line) {
    const auto& [key, value] = *line;
    if (!a.contains(key)) waiting[{key.kernel, key.file, value}].push_back(key);
  }
  std::vector<LineChange> found;
  for (auto line = a.begin(); line != a.end();) {
    const auto& [key, value] = *line;
    const auto alike =
        b.contains(key) ? waiting.end() : waiting.find({key.kernel, key.file, value});
    if (alike == waiting.end() || alike->second.empty()) {
      ++line;
      continue;
    }
    found.push_back({alike->second.back(), ChangeKind::same, value, value});
    alike->second.pop_back();
    line = a.erase(line);
  }
  for (const LineChange& line : found) b.erase(line.place);
  return found;
}

}  // namespace

std::vector<LineChange> line_changes(LineValues a, LineValues b, const metrics::Metric& metric) {
  std::vector<LineChange> found = take_shifted(a, b);
  for (const auto& [key, before] : a) {
    const auto other = b.find(key);
    if (other == b.end()) {
      found.push_back({key, ChangeKind::gone, before, {}});
      continue;
    }
    const double after = other->second;
    found.push_back({key, before == after ? ChangeKind::same : direction(before, after, metric),
                     before, after});
    b.erase(other);
  }
  for (const auto& [key, after] : b) found.push_back({key, ChangeKind::added, {}, after});
  std::ranges::stable_sort(found, {}, [](const LineChange& line) {
    return std::tuple(-distance(line), line.place.file, line.place.line);
  });
  return found;
}

}  // namespace warpgauge::diff
