// Quotes words for a shell.
#include "harness/files/shell_word.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace warpgauge::files {

std::string shell_word(const std::string& argument) {
  constexpr std::string_view kPlain = "%+,-./:=@_";
  const auto plain = [&](unsigned char c) {
    return std::isalnum(c) != 0 || kPlain.find(static_cast<char>(c)) != kPlain.npos;
  };
  if (!argument.empty() && std::ranges::all_of(argument, plain)) return argument;
  std::string word = "'";
  for (const char c : argument) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace warpgauge::files
