// Decodes a character of UTF-8.
#include "metrics/base/utf8.h"

#include <bit>

namespace warpgauge::metrics {

Utf8Character utf8_character(std::string_view text) {
  if (text.empty()) return {};
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const auto bytes = static_cast<std::size_t>(std::countl_one(lead));
  if (bytes < 2 || bytes > 4 || text.size() < bytes) return {};
  char32_t value = lead & (0x7fu >> bytes);
  for (const char next : text.substr(1, bytes - 1)) {
    const auto byte = static_cast<unsigned char>(next);
    if ((byte & 0xc0) != 0x80) return {};
    value = value << 6 | (byte & 0x3f);
  }
  constexpr char32_t kLeast[] = {0x80, 0x800, 0x10000};  // of two, three and four bytes
  const bool is_surrogate = value >= 0xd800 && value < 0xe000;
  if (value < kLeast[bytes - 2] || value > 0x10ffff || is_surrogate) return {};
  return {value, bytes};
}

}  // namespace warpgauge::metrics
