// Finds texts that say nothing: a reason must not be one.
#pragma once

#include <string_view>

namespace warpgauge::metrics {

/// True for a text of which nothing can be seen: white space, control and zero-width characters.
bool is_blank(std::string_view text);

}  // namespace warpgauge::metrics
