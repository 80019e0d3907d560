// Takes text apart from its front: prefixes, numbers, and what stands in front of a character.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace warpgauge::metrics {

/// Removes `prefix` from the front of `text`; false if it is not there.
bool take_prefix(std::string_view& text, std::string_view prefix);

/// Removes the number at the front of `text` and returns it; nothing if none is there, or one too
/// large for its type.
template <std::integral Number>
std::optional<Number> take_number(std::string_view& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// Removes all up to and including `end` from the front of `text` and returns the text before it;
/// with `end` missing, all of the text.
std::string_view take_until(std::string_view& text, char end);

/// The text without spaces, tabs and carriage returns at its ends.
std::string_view trim(std::string_view text);

/// The line without the codes of a terminal, "ESC [ 1 ; 32 m".
std::string without_terminal_codes(std::string_view line);

}  // namespace warpgauge::metrics
