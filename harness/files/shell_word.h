// Words of commands that users paste into a shell.
#pragma once

#include <string>

namespace warpgauge::files {

/// The argument as a shell reads it back: in quotes if it needs them.
std::string shell_word(const std::string& argument);

}  // namespace warpgauge::files
