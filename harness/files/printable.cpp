#include "harness/files/printable.h"

#include <fmt/format.h>

namespace warpgauge::files {

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
    } else {
      safe += text[i];
    }
  }
  return safe;
}

}  // namespace warpgauge::files
