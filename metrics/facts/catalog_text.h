// The text of metrics/facts/catalog.toml, of which the build makes a source
// (metrics/CMakeLists.txt).
#pragma once

#include <string_view>

namespace warpgauge::metrics {

std::string_view catalog_text();

}  // namespace warpgauge::metrics
