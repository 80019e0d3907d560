// The line of source that code was compiled from.
#pragma once

#include <string>

namespace warpgauge::emulator::ptx {

/// A line of source.
struct SourceLine {
  std::string file;
  int line = 0;  ///< 0: none
};

}  // namespace warpgauge::emulator::ptx
