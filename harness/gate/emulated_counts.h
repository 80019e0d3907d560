// The counts of a gate on a GPU whose counters may not be read: the emulated program beside this
// one counts what the same cases do.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/gate/gate.h"
#include "metrics/facts/fact.h"

namespace warpgauge::gate {

/// True if there is a GPU, counts were asked for, may be of the emulator, and its program is there.
bool can_count_emulated(const GateOptions& options);

struct EmulatedCounts {
  std::map<std::string, std::vector<metrics::Fact>> facts;  ///< by case; source "emulator"
  std::vector<metrics::Device> devices;                     ///< emulated ones
  std::map<std::string, std::string> errors;                ///< by case: what the emulator found
  std::string ending;                                       ///< how its program ended

  /// Why a metric of the case is not among the facts.
  std::string reason(const std::string& id) const;
};

/// Runs a gate of the emulated program over the same cases, as `arch`; its results are in
/// <out>/emulated, and what it prints in gate.txt there. Throws metrics::FactError, and
/// std::runtime_error if the program cannot be started.
EmulatedCounts count_emulated(const GateOptions& options, const std::string& arch);

}  // namespace warpgauge::gate
