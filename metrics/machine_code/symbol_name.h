// The names of functions and sections in what compilers write.
#pragma once

#include <string_view>

namespace warpgauge::metrics {

/// True for a name that a compiler may write, mangled or not: UTF-8 without control characters (C0,
/// DEL, C1), and not empty.
bool is_symbol_name(std::string_view text);

}  // namespace warpgauge::metrics
