// Characters of a text in UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace warpgauge::metrics {

struct Utf8Character {
  char32_t value = 0;
  std::size_t bytes = 0;  ///< 0: there is none
};

/// The character that a text begins with. There is none where the text is empty, cut off, or no
/// UTF-8 (Unicode 16.0, table 3-7: no longer forms than needed, no surrogates).
Utf8Character utf8_character(std::string_view text);

}  // namespace warpgauge::metrics
