// Messages of comparisons that failed.
#include "warpgauge/comparison.h"

#include <fmt/format.h>

#include <stdexcept>

namespace warpgauge {

std::string Comparison::text(double value) {
  return std::isnan(value) ? "nan" : fmt::format("{}", value);  // fmt shows the sign of NaN
}

void Comparison::require_usable(double tolerance) {
  if (tolerance >= 0 && tolerance < 1) return;
  throw std::invalid_argument(
      fmt::format("close() was called with a tolerance of {}: it must be at least 0 and below 1, "
                  "or 0 is as close as anything and the comparison says nothing",
                  text(tolerance)));
}

void Comparison::fail(std::size_t index, const std::string& got, const std::string& expected,
                      std::size_t differing, std::size_t total) {
  if (!failure_.empty()) return;  // the first output that differs is enough to start from
  const char* hint = got == "nan" ? " (never written?)" : "";
  failure_ = fmt::format("element {} is {}{}, expected {}; {} of {} differ", index, got, hint,
                         expected, differing, total);
}

void Comparison::fail_count(std::size_t got, std::size_t expected) {
  if (failure_.empty()) {
    failure_ = fmt::format("{} elements, but the reference has {}", got, expected);
  }
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
