// Members of the JSON objects that warpgauge writes: one that says nothing is absent.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "metrics/base/value.h"

namespace warpgauge::metrics {

/// Whole numbers as integers, so that they are written without ".0".
nlohmann::ordered_json number_json(double number);

/// Nothing for an empty text.
void set(nlohmann::ordered_json& object, const char* key, const std::string& text);
/// Nothing for what was not measured, and for numbers that JSON does not have (NaN, infinity).
void set(nlohmann::ordered_json& object, const char* key, const Value& value);

}  // namespace warpgauge::metrics
