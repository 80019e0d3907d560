// Takes text apart from its front.
#include "metrics/machine_code/text_scanner.h"

#include <algorithm>

namespace warpgauge::metrics {

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::string_view take_until(std::string_view& text, char end) {
  const std::string_view before = text.substr(0, text.find(end));
  text.remove_prefix(std::min(before.size() + 1, text.size()));
  return before;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string without_terminal_codes(std::string_view line) {
  constexpr char kEscape = '\x1b';
  std::string plain;
  while (!line.empty()) {
    plain += take_until(line, kEscape);
    if (!take_prefix(line, "[")) continue;
    const auto end = std::ranges::find_if(line, [](char c) { return c >= '@' && c <= '~'; });
    line = {end == line.end() ? end : end + 1, line.end()};
  }
  return plain;
}

}  // namespace warpgauge::metrics
