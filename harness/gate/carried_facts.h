// Facts of an earlier run that still hold, because nothing has changed that they depend on.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/cases/registry.h"
#include "metrics/facts/fact.h"

namespace warpgauge::gate {

/// What must hold for the facts of a case to be carried.
struct Carrying {
  std::vector<const Case*> cases;  ///< each behind those that its budgets are multiples of
  std::function<const metrics::Inputs&(const Case&)> inputs_of;  ///< empty: not known
  /// Why a case is measured in any case; empty: only if something has changed.
  std::function<std::string(const Case&)> why_measured;
  /// The architectures for which compile-time facts, and a run, are needed.
  std::function<std::vector<std::string>(const Case&)> static_archs, run_archs;
  std::function<std::vector<const Case*>(const Case&)> ratios_of;
};

struct CarriedFacts {
  /// Exact facts by case; not judged anew. Each says which run it was measured in.
  std::map<std::string, std::vector<metrics::Fact>> facts;
  /// Why each of the other cases is measured, but those for which there is nothing to measure.
  std::map<std::string, std::string> affected;
  std::map<std::string, metrics::Run> runs;  ///< those that facts are of, by id, without facts
};

/// Reads the facts that can be carried from the facts of earlier gates: of each case those of the
/// last run that has all of them, without an error, with the same inputs. Throws
/// metrics::FactError.
CarriedFacts read_carried(metrics::FactReader& earlier, const Carrying& carrying);

}  // namespace warpgauge::gate
