// Whether output may be coloured.
#pragma once

#include <unistd.h>

#include <cstdlib>

namespace warpgauge::files {

/// True for a stream (STDOUT_FILENO) that is a terminal, unless NO_COLOR is set.
inline bool may_be_coloured(int stream) {
  return isatty(stream) == 1 && std::getenv("NO_COLOR") == nullptr;
}

}  // namespace warpgauge::files
