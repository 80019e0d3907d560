// The line of source that code was compiled from.
#pragma once

#include <string>

namespace warpgauge::emulator::ptx {

/// A line of source, and the line that it is inlined into.
struct SourceLine {
  std::string file;
  int line = 0;
  int column = 0;
  bool in_toolkit = false;  ///< the file is a header of the toolkit
  int caller = -1;          ///< index into Module::source_lines, of a smaller one; -1: not inlined
};

}  // namespace warpgauge::emulator::ptx
