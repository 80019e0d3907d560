// Writes values as text.
#include "metrics/base/value.h"

#include <fmt/format.h>

#include <cmath>

namespace warpgauge::metrics {
namespace {

std::string number_text(double number) {
  if (std::isnan(number)) return "nan";  // fmt would show the sign
  if (number == 0) return "0";           // also -0
  const double magnitude = std::abs(number);
  const bool whole = number == std::trunc(number);
  // From a million on, %g switches to exponents, which do not read as counts.
  if (magnitude <= kMaxExactWhole && (whole || magnitude >= 1e6)) {
    return fmt::format("{:.0f}", number);
  }
  return fmt::format("{:.6g}", number);
}

}  // namespace

std::string to_text(const Value& value) {
  if (const double* number = std::get_if<double>(&value)) return number_text(*number);
  if (const std::string* word = std::get_if<std::string>(&value)) return *word;
  return "-";
}

std::string exact_text(double number) {
  if (std::isnan(number)) return "nan";
  return number == 0 ? "0" : fmt::format("{}", number);
}

}  // namespace warpgauge::metrics
