// Adds up what the machine counted per PTX instruction to counts per source line.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "harness/emulator/machine/machine.h"
#include "metrics/confidence.h"
#include "metrics/counts.h"

namespace warpgauge::emulator::counting {

/// How far the counts of a kernel can be trusted.
struct KernelTrust {
  /// What the machine code does besides and nothing here counts: registers that are spilled.
  struct Uncounted {
    std::string file;
    int line = 0;
    std::string group;  ///< first part of the ids of the metrics that lack it ("local")
    metrics::Trust trust;
  };
  std::map<int, metrics::Trust> by_text_line;  ///< line of the PTX text, of memory instructions
  metrics::Trust otherwise;                    ///< lines that are not there
  metrics::Trust rest;  ///< that the memory instructions and `uncounted` are all there are
  std::vector<Uncounted> uncounted;

  /// Of the instruction in that line of the PTX text.
  const metrics::Trust& of(int text_line) const {
    const auto known = by_text_line.find(text_line);
    return known == by_text_line.end() ? otherwise : known->second;
  }
};

/// The same numbers as the facts have them: a request, wavefront or sector belongs to the space.
metrics::Counts counts_of(const machine::AccessTotals& access);

/// Counts of kernels over any number of launches.
class CountTable {
 public:
  /// A source line is trusted as far as the least trusted of the instructions that counted there.
  void add(const std::string& kernel, const machine::LaunchOutcome& outcome,
           const KernelTrust& trust);

  /// All that was added since the last call, ordered by kernel, file and line. Counts of the whole
  /// kernel have no file and line 0.
  std::vector<metrics::LineCounts> take();

 private:
  metrics::LineCounts& line(const std::string& kernel, const std::string& file, int number);

  std::map<std::tuple<std::string, std::string, int>, metrics::LineCounts> lines_;
};

}  // namespace warpgauge::emulator::counting
