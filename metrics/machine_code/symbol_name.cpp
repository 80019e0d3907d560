// Reads a name as UTF-8.
#include "metrics/machine_code/symbol_name.h"

#include <algorithm>
#include <cstddef>

#include "metrics/base/control_character.h"

namespace warpgauge::metrics {
namespace {

/// The bytes of a character that begins so; 0: none does.
std::size_t bytes_of_character(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return 2;
  if (first >= 0xe0 && first <= 0xef) return 3;
  return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

}  // namespace

bool is_symbol_name(std::string_view text) {
  if (text.empty()) return false;
  while (!text.empty()) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const std::size_t bytes = bytes_of_character(byte(0));
    if (bytes == 0 || bytes > text.size() || control_bytes(text) > 0) return false;
    const bool is_whole = std::ranges::all_of(
        text.substr(1, bytes - 1), [](unsigned char next) { return (next & 0xc0) == 0x80; });
    if (!is_whole) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

}  // namespace warpgauge::metrics
