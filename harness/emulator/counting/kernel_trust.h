// How far the counts of a kernel can be trusted.
#pragma once

#include <algorithm>
#include <map>
#include <set>
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
  /// A register that the machine code keeps in local memory: at one place in all lanes, as often as
  /// an access of the PTX executes.
  struct Spill {
    metrics::SourceLine source;
    int width = 0;
    int text_line = 0;  ///< of the access
  };
  /// An access of which the machine code has copies: they count together what it does where no warp
  /// divides at one of these branches.
  struct Copies {
    std::set<int> branches;  ///< lines of the PTX text
    metrics::Trust otherwise;
  };
  std::map<int, metrics::Trust> by_text_line;  ///< line of the PTX text, of memory instructions
  std::map<int, Copies> copies;                ///< those that are exact on this condition
  metrics::Trust otherwise;                    ///< lines that are not there
  metrics::Trust rest;  ///< that there is nothing besides the memory instructions and `uncounted`
  std::vector<Uncounted> uncounted;
  std::vector<Spill> spills;

  /// Of the instruction in that line of the PTX text.
  const metrics::Trust& of(int text_line) const {
    const auto known = by_text_line.find(text_line);
    return known == by_text_line.end() ? otherwise : known->second;
  }
  /// In a launch in which warps divided at the branches in the lines `divided`.
  const metrics::Trust& of(int text_line, const std::set<int>& divided) const {
    const auto known = copies.find(text_line);
    const auto is_divided = [&](int branch) { return divided.contains(branch); };
    return known != copies.end() && std::ranges::any_of(known->second.branches, is_divided)
               ? known->second.otherwise
               : of(text_line);
  }
};

}  // namespace warpgauge::emulator::counting
