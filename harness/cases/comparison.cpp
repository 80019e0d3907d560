// Words the messages of failed comparisons.
#include "warpgauge/comparison.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace warpgauge {

std::string Comparison::Element::text() const {
  if (!is_integer) return std::isnan(number) ? "nan" : fmt::format("{}", number);  // fmt: "-nan"
  return is_signed ? std::to_string(integer) : std::to_string(static_cast<std::uint64_t>(integer));
}

void Comparison::require_usable(double tolerance) {
  if (tolerance >= 0 && tolerance < 1) return;
  throw std::invalid_argument(
      fmt::format("close() was called with a tolerance of {}: it must be at least 0 and below 1, "
                  "or 0 is as close as anything and the comparison says nothing",
                  element(tolerance).text()));
}

std::string Comparison::failure() const {
  const auto& [kind, index, got, expected, count, total] = difference_;
  if (kind == Kind::none) return "";
  if (kind == Kind::count) {
    return fmt::format("{} elements, but the reference has {}", count, total);
  }
  const std::string text = got.text();
  const char* hint = text == "nan" ? " (never written?)" : "";
  return fmt::format("element {} is {}{}, expected {}; {} of {} differ", index, text, hint,
                     expected.text(), count, total);
}

void Comparison::fail_count(std::size_t got, std::size_t expected) {
  if (difference_.kind == Kind::none) difference_ = {Kind::count, 0, {}, {}, got, expected};
}

void Comparison::add_error(double got, double expected) {
  if (!std::isfinite(expected)) return;
  const double error = std::fabs(got - expected);
  ++errors_.count;
  errors_.max_scaled = std::fmax(errors_.max_scaled, error / std::fmax(1.0, std::fabs(expected)));
  errors_.sum_absolute += error;
  if (expected == 0) return;
  ++errors_.relative_count;
  errors_.sum_relative += error / std::fabs(expected);
}

}  // namespace warpgauge
