// What only a run can tell: whether the result is right, and what the hardware had to do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/registry.h"
#include "metrics/budget.h"
#include "metrics/cupti.h"
#include "metrics/fact.h"

namespace warpgauge {

/// What this process can measure at run time. Make it before the first kernel is launched.
class Meter {
 public:
  /// `use_cupti` false leaves CUPTI out, so that another profiler can attach to the program.
  explicit Meter(bool use_cupti);

  /// Why nothing can be run here ("no CUDA device ..."); empty if cases can be run.
  const std::string& no_device() const { return no_device_; }
  /// Why counters cannot be read; empty if they can.
  const std::string& no_counters() const { return no_counters_; }
  const std::optional<metrics::Device>& device() const { return device_; }
  std::string arch() const;  ///< "sm_90", or empty without a device

  /// Runs the case, compares its result, counts what it did, and returns the facts, not yet
  /// judged: those of the case, then those of its lines. `budgets` decides which metrics are
  /// reported as unmeasured where they could not be counted. A case whose run fails gives one
  /// fact with the verdict error; `broken()` tells whether the device can still be used.
  std::vector<metrics::Fact> run(const Case& one, const metrics::Budgets& budgets);

  /// True after an error that leaves the CUDA context unusable: no further case can be run.
  bool broken() const { return broken_; }

 private:
  /// Runs the launch of a problem that has been reset, counted where that is possible; else
  /// `not_counted` is told why, and the launch is made all the same.
  std::vector<metrics::LineCounts> launch_counted(const Case& one, Problem& problem,
                                                  std::string* not_counted);

  std::string no_device_, no_counters_;
  std::optional<metrics::Device> device_;
  std::optional<metrics::SassCounter> sass_;
  bool broken_ = false;
};

/// The fact that says that a case could not be run to its end.
metrics::Fact error_fact(const Case& one, std::string reason);

/// The bounded facts (times, hardware counters) of cases that are known to run, measured in one
/// profiling session and not yet judged. Throws metrics::Unmeasured.
std::vector<metrics::Fact> bounded_facts(const std::vector<const Case*>& cases,
                                         const std::string& arch);

}  // namespace warpgauge
