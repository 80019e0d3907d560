// Tells changes of noisy values from noise.
#include "harness/diff/noise.h"

#include <charconv>
#include <cmath>

namespace warpgauge::diff {

std::optional<double> share_from(std::string_view text) {
  const bool is_percent = text.ends_with('%');
  if (is_percent) text.remove_suffix(1);
  double share = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), share);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (is_percent) share /= 100;
  if (!(share >= 0 && share <= 1)) return std::nullopt;  // NaN, too
  return share;
}

bool is_beyond_noise(const metrics::Fact& a, const metrics::Fact& b, double noise) {
  const bool overlap = a.interval->low <= b.interval->high && b.interval->low <= a.interval->high;
  const double before = std::get<double>(a.value), after = std::get<double>(b.value);
  return !overlap && std::abs(after - before) > noise * std::abs(before);
}

}  // namespace warpgauge::diff
