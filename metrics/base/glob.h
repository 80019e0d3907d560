// Globs of names: `*`, `?`, `[...]`; a backslash is a character like any other.
#pragma once

#include <span>
#include <string>

namespace warpgauge::metrics {

/// True if `glob` equals, or as a glob fits, one of the names.
bool fits(const std::string& glob, std::span<const std::string> names);

}  // namespace warpgauge::metrics
