// Replaces the characters that a terminal would act upon or not show.
#include "harness/files/printable.h"

#include <fmt/format.h>

namespace warpgauge::files {

namespace {

/// The character of three bytes at the beginning of a text; 0: there is none.
unsigned three_bytes(std::string_view text) {
  if (text.size() < 3) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if ((byte(0) & 0xf0) != 0xe0 || (byte(1) & 0xc0) != 0x80 || (byte(2) & 0xc0) != 0x80) return 0;
  return (byte(0) & 0x0fu) << 12 | (byte(1) & 0x3fu) << 6 | (byte(2) & 0x3fu);
}

/// True for characters without width, other line breaks, and those that turn the direction.
bool is_invisible(unsigned character) {
  return (character >= 0x200b && character <= 0x200f) ||
         (character >= 0x2028 && character <= 0x202e) ||
         (character >= 0x2060 && character <= 0x206f) || character == 0xfeff;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string safe;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte == '\n' || byte == '\r' || byte == '\t') {
      safe += ' ';
    } else if (byte < 0x20 || byte == 0x7f) {
      safe += fmt::format("\\x{:02x}", byte);
    } else if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {
      safe += fmt::format("\\x{:02x}", next);
      ++i;
    } else if (const unsigned character = three_bytes(text.substr(i)); is_invisible(character)) {
      safe += fmt::format("\\u{:04x}", character);
      i += 2;
    } else {
      safe += text[i];
    }
  }
  return safe;
}

}  // namespace warpgauge::files
