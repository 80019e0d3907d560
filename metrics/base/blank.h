// Finds blank texts: a reason must not be one.
#pragma once

#include <string_view>

namespace warpgauge::metrics {

/// True if no character of the text is visible: all are white space, control or zero-width
/// characters.
bool is_blank(std::string_view text);

}  // namespace warpgauge::metrics
