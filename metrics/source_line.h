// A line of source, and whose it is.
#pragma once

#include <string>
#include <string_view>

namespace warpgauge::metrics {

/// A line of source.
struct SourceLine {
  std::string file;
  int line = 0;

  bool operator==(const SourceLine&) const = default;
};

/// True if the file belongs to the CUDA toolkit, the compiler or the C library: code inlined from
/// it is blamed on the line that calls it, which the user can change. `path` is as the compiler
/// wrote it, with or without dots.
bool is_toolkit_header(std::string_view path);

}  // namespace warpgauge::metrics
