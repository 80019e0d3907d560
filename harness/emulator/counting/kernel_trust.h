// How far the counts of a kernel can be trusted.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "metrics/confidence.h"
#include "metrics/order_dependence.h"
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

  /// What is less certain in unsettled memory (metrics::Memory), besides.
  struct Unsettled {
    std::map<int, metrics::Trust> by_text_line;
    std::vector<Uncounted> uncounted;
  };
  Unsettled unsettled;
  bool unsettles_memory = false;  ///< for the launches behind it

  /// Of the instruction in that line of the PTX text.
  const metrics::Trust& of(int text_line) const {
    const auto known = by_text_line.find(text_line);
    return known == by_text_line.end() ? otherwise : known->second;
  }
  /// In a launch in which warps divided at the branches in the lines `divided`.
  const metrics::Trust& of(int text_line, const std::set<int>& divided,
                           metrics::Memory memory = metrics::Memory::settled) const {
    const auto copy = copies.find(text_line);
    const auto is_divided = [&](int branch) { return divided.contains(branch); };
    const metrics::Trust& known =
        copy != copies.end() && std::ranges::any_of(copy->second.branches, is_divided)
            ? copy->second.otherwise
            : of(text_line);
    const auto by_memory = unsettled.by_text_line.find(text_line);
    const bool worse = memory == metrics::Memory::unsettled &&
                       by_memory != unsettled.by_text_line.end() &&
                       by_memory->second.confidence > known.confidence;
    return worse ? by_memory->second : known;
  }
};

}  // namespace warpgauge::emulator::counting
