// Long texts, as lines of limited width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpgauge::files {

/// Breaks `text` at blanks; a word that is longer than `width` bytes stays whole.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// `text`, or as much of it as fits into `width` bytes with "..." behind it. Never ends inside of a
/// character of UTF-8.
std::string shortened(std::string text, std::size_t width);

}  // namespace warpgauge::files
