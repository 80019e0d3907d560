// Characters that a terminal obeys.
#pragma once

#include <cstddef>
#include <string_view>

namespace warpgauge::metrics {

/// The bytes of the control character (C0, DEL, or C1 in UTF-8) that a text begins with; 0: it
/// begins with none.
inline std::size_t control_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) return 0;
  if (byte(0) < 0x20 || byte(0) == 0x7f) return 1;
  const bool is_c1 = byte(0) == 0xc2 && text.size() > 1 && byte(1) >= 0x80 && byte(1) < 0xa0;
  return is_c1 ? 2 : 0;
}

}  // namespace warpgauge::metrics
