// Cuts lists to one display: the first rows of each, and the number of the rest.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpgauge::diff {

/// How a diff is shown.
struct DisplayOptions {
  bool everything = false;  ///< all of each list, not one display
  bool colours = false;
};

inline constexpr std::size_t kShownCases = 10;  ///< and families, and counts
inline constexpr std::size_t kShownLost = 5;

/// Lines for one case or several.
struct Entry {
  std::string text;  ///< ends with a line break
  std::size_t cases = 1;
};

/// The first `most` entries, or everything, and "and 3 more lost cases (--all shows them)".
std::string first_of(const std::vector<Entry>& entries, std::size_t most, std::string_view what,
                     const DisplayOptions& display);

}  // namespace warpgauge::diff
