// How far the counts of a kernel can be trusted.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "metrics/confidence.h"
#include "metrics/source_line.h"

namespace warpgauge::emulator::counting {

/// How far the counts of a kernel can be trusted.
struct KernelTrust {
  /// Accesses of the machine code that nothing here counts: spilled registers, what did not execute
  /// now but may another time.
  struct Uncounted {
    metrics::SourceLine source;
    std::string group;  ///< first part of the ids of the metrics that lack it ("local")
    metrics::Trust trust;
  };
  std::map<int, metrics::Trust> by_text_line;  ///< line of the PTX text, of memory instructions
  metrics::Trust otherwise;                    ///< lines that are not there
  metrics::Trust rest;  ///< that there is nothing besides the memory instructions and `uncounted`
  std::vector<Uncounted> uncounted;

  /// Of the instruction in that line of the PTX text.
  const metrics::Trust& of(int text_line) const {
    const auto known = by_text_line.find(text_line);
    return known == by_text_line.end() ? otherwise : known->second;
  }
};

}  // namespace warpgauge::emulator::counting
