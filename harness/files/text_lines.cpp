// Breaks long texts into lines.
#include "harness/files/text_lines.h"

#include <algorithm>

namespace warpgauge::files {

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (lines.empty() || lines.back().size() + 1 + word.size() > width) {
      lines.emplace_back(word);
    } else {
      lines.back().append(" ").append(word);
    }
  }
  return lines;
}

std::string shortened(std::string text, std::size_t width) {
  if (text.size() <= width) return text;
  std::size_t size = width - 3;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  return text.substr(0, size) + "...";
}

}  // namespace warpgauge::files
