// Converts values to JSON.
#include "metrics/base/json_members.h"

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace warpgauge::metrics {

using nlohmann::ordered_json;

ordered_json number_json(double number) {
  const bool whole = number == std::trunc(number) && std::abs(number) <= kMaxExactWhole;
  return whole ? ordered_json(static_cast<std::int64_t>(number)) : ordered_json(number);
}

void set(ordered_json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

void set(ordered_json& object, const char* key, const Value& value) {
  if (const std::string* word = std::get_if<std::string>(&value)) object[key] = *word;
  const double* number = std::get_if<double>(&value);
  if (number && std::isfinite(*number)) object[key] = number_json(*number);
}

}  // namespace warpgauge::metrics
