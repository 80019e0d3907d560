// Lists the invisible characters.
#include "metrics/base/blank.h"

#include <algorithm>
#include <iterator>

namespace warpgauge::metrics {

bool is_blank(std::string_view text) {
  constexpr std::string_view kUnseen[] = {
      "\u00a0", "\u00ad", "\u1680", "\u180e", "\u2000", "\u2001", "\u2002", "\u2003",
      "\u2004", "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a", "\u200b",
      "\u200c", "\u200d", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202b",
      "\u202c", "\u202d", "\u202e", "\u202f", "\u205f", "\u2060", "\u2061", "\u2062",
      "\u2063", "\u2064", "\u2800", "\u3000", "\u3164", "\ufeff", "\x7f"};
  while (!text.empty()) {
    const auto found = std::ranges::find_if(
        kUnseen, [&](std::string_view character) { return text.starts_with(character); });
    const bool is_space = static_cast<unsigned char>(text.front()) <= ' ';
    if (!is_space && found == std::end(kUnseen)) return false;
    text.remove_prefix(is_space ? 1 : found->size());
  }
  return true;
}

}  // namespace warpgauge::metrics
