// Replaces the characters that a terminal would act upon or not show.
#include "harness/files/printable.h"

#include <fmt/format.h>

#include "metrics/base/control_character.h"

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

Hidden hidden_at(std::string_view text) {
  if (const std::size_t bytes = metrics::control_bytes(text); bytes > 0) {
    return {static_cast<unsigned char>(text[bytes - 1]), bytes};  // of C1 the second byte
  }
  const unsigned character = three_bytes(text);
  return is_invisible(character) ? Hidden{character, 3} : Hidden{};
}

std::string printable(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const auto [character, bytes] = hidden_at(text);
    if (bytes == 0) {
      safe += text[0];
    } else if (character == '\n' || character == '\r' || character == '\t') {
      safe += ' ';
    } else if (character < 0x100) {
      safe += fmt::format("\\x{:02x}", character);
    } else {
      safe += fmt::format("\\u{:04x}", character);
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return safe;
}

}  // namespace warpgauge::files
