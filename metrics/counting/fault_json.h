// Faults, and lines of source, as JSON that one process of the tool hands to another.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "metrics/base/source_line.h"
#include "metrics/counting/device_fault.h"

namespace warpgauge::metrics {

/// A kernel and a line of it, with its chain of inlined calls.
nlohmann::json to_json(const std::string& kernel, const SourceLine& line);
/// The line of what to_json() made. Throws nlohmann::json::exception for other JSON.
SourceLine line_from(const nlohmann::json& object);

nlohmann::json to_json(const DeviceFault& fault);
/// Throws as line_from().
DeviceFault fault_from(const nlohmann::json& object);

/// The JSON in one line. Names of programs and kernels are bytes: invalid UTF-8 is replaced.
std::string text_of(const nlohmann::json& object);

}  // namespace warpgauge::metrics
