// Facts of times and hardware counters, by CUPTI's range profiler. They are noisy, and judged with
// a tolerance if at all.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/cases/registry.h"
#include "harness/measuring/missing_facts.h"
#include "metrics/budgets/budget.h"
#include "metrics/cupti/cupti.h"
#include "metrics/facts/fact.h"

namespace warpgauge {

/// Measures times and hardware counters of cases on a GPU. A process that counts exactly cannot,
/// because exact counting patches kernels.
class CounterSession {
 public:
  using CountersOf = std::function<Counters(const Case&)>;
  /// Plans all hardware counters that `counters_of` returns for the cases, in as few passes as
  /// CUPTI needs. Throws metrics::Unmeasured.
  CounterSession(const std::vector<const Case*>& cases, CountersOf counters_of);

  /// The bounded facts of some of the cases, measured together and not yet judged. The cases must
  /// be known to run without error. A counter that was asked for and not measured has a fact with
  /// the reason. Throws metrics::Unmeasured.
  std::vector<metrics::Fact> facts(std::span<const Case* const> cases, const std::string& arch,
                                   const std::string& device);

 private:
  CountersOf counters_of_;
  metrics::RangeProfiler profiler_;
};

/// The `asked` counters, then the hardware counters and `range` metrics in the budgets of the case
/// on `arch`.
Counters counters_of(const Case& test_case, const std::string& arch,
                     const metrics::Budgets& budgets, const Counters& asked = {});

/// True if a bounded metric of the case has a budget on `arch`.
bool has_bounded_budget(const Case& test_case, const std::string& arch,
                        const metrics::Budgets& budgets);

}  // namespace warpgauge
