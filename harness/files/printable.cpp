// Replaces the characters that a terminal would act upon or not show.
#include "harness/files/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "metrics/base/control_character.h"
#include "metrics/base/utf8.h"

namespace warpgauge::files {
namespace {

/// Ranges of characters without width, of other line breaks, and of those that turn the direction.
constexpr std::pair<char32_t, char32_t> kInvisible[] = {
    {0xad, 0xad},     {0x61c, 0x61c},   {0x180e, 0x180e}, {0x200b, 0x200f},   {0x2028, 0x202e},
    {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
};

bool is_invisible(char32_t character) {
  return std::ranges::any_of(kInvisible, [&](const auto& range) {
    return character >= range.first && character <= range.second;
  });
}

}  // namespace

Hidden hidden_at(std::string_view text) {
  const metrics::Utf8Character first = metrics::utf8_character(text);
  const bool is_hidden = metrics::control_bytes(text) > 0 || is_invisible(first.value);
  return is_hidden ? Hidden{static_cast<unsigned>(first.value), first.bytes} : Hidden{};
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
    } else if (character < 0x10000) {
      safe += fmt::format("\\u{:04x}", character);
    } else {
      safe += fmt::format("\\U{:08x}", character);
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return safe;
}

}  // namespace warpgauge::files
