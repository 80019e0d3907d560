// Writes limits as text, and multiplies out ratios.
#include "metrics/facts/limit.h"

#include <fmt/format.h>

#include <cmath>

namespace warpgauge::metrics {

std::string to_text(std::chrono::year_month_day date) {
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

Limit Limit::absolute() const {
  Limit limit = *this;
  if (!reference) return limit;
  const auto multiply = [&](double& factor) {
    // 0.29 x 100 is a little less than 29 in binary.
    const double product = factor * *reference, whole = std::round(product);
    factor = std::abs(product - whole) <= 1e-12 * whole ? whole : product;
  };
  if (limit.max) multiply(*limit.max);
  if (limit.min) multiply(*limit.min);
  if (double* number = std::get_if<double>(&limit.equal)) multiply(*number);
  return limit;
}

std::string Limit::str() const {
  std::string text;
  if (const double* number = std::get_if<double>(&equal)) text = "= " + exact_text(*number);
  if (const std::string* word = std::get_if<std::string>(&equal)) text = "= " + *word;
  if (min) text = ">= " + exact_text(*min);
  if (max) text += (min ? " and <= " : "<= ") + exact_text(*max);
  if (reference) text += fmt::format(" x {} of {}", exact_text(*reference), of);
  if (!reference && !of.empty()) text += " x " + of;
  if (tolerance > 0) text += fmt::format(" ± {:g}%", tolerance * 100);
  if (until) text += " until " + to_text(*until);
  return text;
}

std::string Limit::text() const {
  if (reason.empty()) return str();
  return fmt::format("{} ({}{})", str(), origin == kBuiltInOrigin ? "built-in default: " : "",
                     reason);
}

}  // namespace warpgauge::metrics
