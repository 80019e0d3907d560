// Lines of source for outcomes of launches that tests make up.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "metrics/base/source_line.h"

namespace warpgauge::emulator {

/// A line that lives as long as the process.
inline const metrics::SourceLine* kept_line(const std::string& file, int line) {
  static std::map<std::pair<std::string, int>, metrics::SourceLine> lines;
  return &lines.try_emplace({file, line}, metrics::SourceLine{file, line}).first->second;
}

}  // namespace warpgauge::emulator
