// Parses TOML, and finds the line of what toml++ does not expect.
#include "metrics/base/toml.h"

#include <algorithm>
#include <vector>

namespace warpgauge::metrics {
namespace {

bool is_unexpected(std::string_view text) try {
  (void)toml::parse(text);
  return false;
} catch (const UnexpectedToml&) {
  return true;
} catch (const toml::parse_error&) {
  return false;
}

/// The first line of a text for which is_unexpected() with which the text is so.
std::size_t unexpected_line(std::string_view text) {
  std::vector<std::size_t> ends;
  for (auto at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1)) ends.push_back(at);
  ends.push_back(text.size());
  const auto end = std::ranges::partition_point(
      ends, [&](std::size_t size) { return !is_unexpected(text.substr(0, size)); });
  return static_cast<std::size_t>(end - ends.begin()) + 1;
}

}  // namespace

toml::table parse_toml(std::string_view text) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    const toml::source_position place = error.source().begin;
    throw TomlError(std::string(error.description()), place.line, place.column);
  } catch (const UnexpectedToml&) {
    throw TomlError("this line is not TOML", unexpected_line(text), 1);
  }
}

}  // namespace warpgauge::metrics
