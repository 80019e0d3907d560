// Errors in the table of metrics.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace warpgauge::metrics {

/// A place in a text. Lines and columns count from 1.
struct TextPlace {
  std::string path;
  std::size_t line = 1, column = 1;
};

/// A fault in the table of metrics; what() begins with path:line:column.
class CatalogError : public std::runtime_error {
 public:
  CatalogError(const TextPlace& place, std::string_view problem);
};

}  // namespace warpgauge::metrics
