// How far the counts of a kernel can be trusted.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/emulator/counting/execution_model.h"
#include "harness/emulator/counting/memory_state.h"
#include "metrics/base/source_line.h"
#include "metrics/facts/confidence.h"

namespace warpgauge::emulator::machine {
struct LaunchOutcome;
}

namespace warpgauge::emulator::counting {

struct Comparison;
struct OracleAnswer;

/// The architecture on which counts of wmma and values of approximate functions were compared with
/// the emulator's. Those of others are estimates.
constexpr int kComparedOn = 90;

/// How far the counts of a kernel can be trusted.
struct KernelTrust {
  /// Accesses of the machine code that nothing here counts: spilled registers, what did not execute
  /// now but may another time.
  struct Uncounted {
    metrics::SourceLine source;
    std::string group;  ///< first part of the ids of the metrics that lack it ("local")
    metrics::Trust trust;
  };
  /// An access of the machine code to local memory at one place in all lanes, such as of a register
  /// that it keeps there: as often as an access of the PTX executes, or as the model of executions
  /// says.
  struct Spill {
    static constexpr const char* kReason =  ///< not to be exact
        "ptxas spills registers or saves them around a call here, which is not in the PTX";

    metrics::SourceLine source;
    int width = 0;
    int text_line = 0;                    ///< the access's; 0: there is none
    std::optional<std::size_t> followed;  ///< place in Executions::followed
  };
  /// Branches, by line of the PTX text.
  struct Ways {
    std::set<int> divided;  ///< branches at which warps divided
    std::set<int> taken;    ///< watched branches that lanes took
  };
  /// An access that the machine code has elsewhere, or several copies of: it counts the same in
  /// launches with none of these ways.
  struct Condition {
    Ways without;
    metrics::Trust otherwise;

    bool holds(const Ways& launch) const;
  };
  std::map<int, metrics::Trust> by_text_line;  ///< line of the PTX text, of memory instructions
  /// By line of the PTX text, too: the line of source that the machine code has the access at,
  /// where it has one. ptxas may blame another one than the PTX.
  std::map<int, metrics::SourceLine> sources;
  std::multimap<int, Condition> conditions;  ///< under which they are exact
  metrics::Trust otherwise;                  ///< lines that are not there
  metrics::Trust rest;  ///< trust that only the memory instructions and `uncounted` are there
  std::vector<Uncounted> uncounted;
  std::vector<Spill> spills;
  /// The accesses of the machine code for those of the PTX, by line, that are at one place in all
  /// lanes, and as often as the model of executions says. Where that holds they count instead.
  std::map<int, std::vector<Spill>> on_stack;

  /// The counts that are less certain in unsettled memory (metrics::Memory), besides.
  struct Unsettled {
    std::map<int, metrics::Trust> by_text_line;
    std::vector<Uncounted> uncounted;
    std::optional<metrics::Trust> executions;

    bool empty() const { return by_text_line.empty() && uncounted.empty() && !executions; }
  };
  Unsettled unsettled;
  bool unsettles_memory = false;  ///< for the launches behind it
  ExecutionModel executions;      ///< the machine code's
  std::optional<metrics::Trust>
      execution_order;  ///< not exact, because the order of threads decides

  /// The trust in the instruction in that line of the PTX text.
  const metrics::Trust& of(int text_line) const {
    const auto known = by_text_line.find(text_line);
    return known == by_text_line.end() ? otherwise : known->second;
  }
  /// In a launch that finds memory so.
  metrics::Trust of(int text_line, const Ways& launch, const MemoryState& memory = {}) const {
    const auto [begin, end] = conditions.equal_range(text_line);
    const auto fails =
        std::find_if(begin, end, [&](const auto& entry) { return !entry.second.holds(launch); });
    const metrics::Trust& known = fails != end ? fails->second.otherwise : of(text_line);
    if (!memory.is_unsettled()) return known;
    if (memory.decides_launches && known.confidence == metrics::Confidence::exact) {
      return of_launches(memory);
    }
    const auto by_memory = unsettled.by_text_line.find(text_line);
    const bool worse = by_memory != unsettled.by_text_line.end() &&
                       by_memory->second.confidence > known.confidence;
    return worse ? in_state(by_memory->second, memory) : known;
  }
  /// Where the host may not have launched the kernel at all.
  static metrics::Trust of_launches(const MemoryState& memory) {
    return in_state({metrics::Confidence::estimate,
                     "the host may have decided on a launch by a few bytes that it copied from the "
                     "device, and the order of threads may have decided these"},
                    memory);
  }
  /// What is less certain in unsettled memory, with the race that has unsettled it.
  static metrics::Trust in_state(metrics::Trust unsettled, const MemoryState& memory) {
    if (!memory.race.empty()) unsettled.reason += " (a race of " + memory.race + ")";
    return unsettled;
  }
};

/// How the accesses of a kernel count, by what the machine code has for each.
OracleAnswer conclude(Comparison comparison);

/// The ways of a launch.
KernelTrust::Ways ways_of(const machine::LaunchOutcome& outcome);

}  // namespace warpgauge::emulator::counting
