// Sets members of the JSON objects that warpgauge writes. A member without content is left out.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "metrics/base/value.h"

namespace warpgauge::metrics {

/// The number as JSON. Whole numbers become integers, so that they are written without ".0".
nlohmann::ordered_json number_json(double number);

/// Sets `key` to the text, unless it is empty.
void set(nlohmann::ordered_json& object, const char* key, const std::string& text);
/// Sets `key` to the value, unless it was not measured or JSON cannot hold it (NaN, infinity).
void set(nlohmann::ordered_json& object, const char* key, const Value& value);

}  // namespace warpgauge::metrics
