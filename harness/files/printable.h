// Foreign text, made safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace warpgauge::files {

/// The text as one line without control sequences (C0, DEL, and C1 in UTF-8): foreign text, such as
/// the message of an exception, must neither forge lines nor control the terminal.
std::string printable(std::string_view text);

}  // namespace warpgauge::files
