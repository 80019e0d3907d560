// Reads a name as UTF-8.
#include "metrics/machine_code/symbol_name.h"

#include <cstddef>

#include "metrics/base/control_character.h"
#include "metrics/base/utf8.h"

namespace warpgauge::metrics {

bool is_symbol_name(std::string_view text) {
  if (text.empty()) return false;
  while (!text.empty()) {
    const std::size_t bytes = utf8_character(text).bytes;
    if (bytes == 0 || control_bytes(text) > 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

}  // namespace warpgauge::metrics
