#include "metrics/limit.h"

#include <fmt/format.h>

namespace warpgauge::metrics {

std::string to_text(std::chrono::year_month_day date) {
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

std::string Limit::str() const {
  std::string text;
  if (const double* number = std::get_if<double>(&equal)) text = "= " + exact_text(*number);
  if (const std::string* word = std::get_if<std::string>(&equal)) text = "= " + *word;
  if (min) text = ">= " + exact_text(*min);
  if (max) text += (min ? " and <= " : "<= ") + exact_text(*max);
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
