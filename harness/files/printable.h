// Foreign text, made safe for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace warpgauge::files {

/// A character that a terminal obeys or does not show (C0, DEL, C1, line breaks, characters without
/// width, those that turn the direction), and its bytes in UTF-8.
struct Hidden {
  unsigned character = 0;
  std::size_t bytes = 0;  ///< 0: there is none
};

/// The hidden character that a text begins with, if it does.
Hidden hidden_at(std::string_view text);

/// The text as one line without hidden characters: foreign text, such as the message of an
/// exception, must neither forge lines nor control the terminal.
std::string printable(std::string_view text);

}  // namespace warpgauge::files
