// Quotes words for a shell.
#include "harness/files/shell_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "harness/files/printable.h"

namespace warpgauge::files {
namespace {

/// The word with escapes, which bash, zsh and ksh read: $'a\012b'.
std::string escaped_word(const std::string& argument) {
  std::string word = "$'";
  for (const char c : argument) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = byte >= 0x20 && byte < 0x7f && c != '\'' && c != '\\';
    word += is_plain ? std::string(1, c) : fmt::format("\\{:03o}", byte);
  }
  return word + "'";
}

}  // namespace

std::string shell_word(const std::string& argument) {
  constexpr std::string_view kPlain = "%+,-./:=@_";
  const auto plain = [&](unsigned char c) {
    return std::isalnum(c) != 0 || kPlain.find(static_cast<char>(c)) != kPlain.npos;
  };
  if (!argument.empty() && std::ranges::all_of(argument, plain)) return argument;
  if (printable(argument) != argument) return escaped_word(argument);
  std::string word = "'";
  for (const char c : argument) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace warpgauge::files
